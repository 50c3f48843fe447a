// The same by an XOR instead of padding.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/by_thread_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

/// The group of four words within a line is exchanged with another that depends on k: no word more,
/// and four neighbours stay together.
struct Swizzled {
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    return k * Outer + (outer / 4 ^ k % 8) * 4 + outer % 4;
  }
  template <int Outer, int Depth>
  static constexpr int size = Outer * Depth;
};

using Tile = BlockTile<128, 128, 8, 8, 8, Swizzled, ByThreadLayout>;

__global__ void __launch_bounds__(Tile::threads) swizzled_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung swizzled() {
  Rung rung;
  rung.id = "fp32/13_swizzled";
  rung.of = Class::fp32;
  rung.idea = "A's lines are swizzled by k instead of padded.";
  rung.gain = "As free of conflicts as padding, without a word more of shared memory. Here the addresses, "
              "another for each k, cost registers instead, so that one block is resident and not two.";
  rung.claims = {"S8"};
  rung.kernel = tile_kernel<Tile, swizzled_product>();
  rung.launch = &launch_tiles<Tile, swizzled_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
