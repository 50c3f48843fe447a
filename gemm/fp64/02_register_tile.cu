// Eight by eight elements of C a thread in a tile of 128 x 128: an outer product of two fragments
// in registers, as in the fp32 ladder.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/by_thread_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp64/rungs.h"

namespace fathom::gemm::fp64 {
namespace {

/// Two doubles between the lines of A: the half-warp that a transposing store serves at once, 8 of
/// k by 2 neighbours, fills all 16 places.
struct Padded {
  static constexpr int padding = 2;
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    return k * (Outer + padding) + outer;
  }
  template <int Outer, int Depth>
  static constexpr int size = (Outer + padding) * Depth;
};

using Types = SameTypes<double>;
using Tile = BlockTile<128, 128, 8, 8, 8, Padded, ByThreadLayout, Types>;

__global__ void __launch_bounds__(Tile::threads)
    register_tile_product(Product<double> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung register_tile() {
  Rung rung;
  rung.id = "fp64/02_register_tile";
  rung.of = Class::fp64;
  rung.idea =
      "A thread computes 8 x 8 elements as an outer product of two fragments in registers; the "
      "block tile is 128 x 128 x 8.";
  rung.gain =
      "Sixteen elements from shared memory for 64 multiplications instead of two for one, an "
      "eighth of the global traffic: the FP64 pipes, half of the tensor cores' rate, become the "
      "limit.";
  rung.kernel = tile_kernel<Tile, register_tile_product>();
  rung.launch = &launch_tiles<Tile, register_tile_product, Types>;
  return rung;
}

}  // namespace fathom::gemm::fp64
