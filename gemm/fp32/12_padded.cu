// Four words between the lines of A in shared memory.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/by_thread_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 8, 8, PaddedLayout, ByThreadLayout>;

__global__ void __launch_bounds__(Tile::threads, 2) padded_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung padded() {
  Rung rung;
  rung.id = "fp32/12_padded";
  rung.of = Class::fp32;
  rung.idea = "A's lines are four words longer than the tile, so that its transposed store spreads over "
              "all banks.";
  rung.gain = "A warp stores 8 of k by 4 rows: without the padding the eight lines start in the same "
              "bank, which costs eight wavefronts instead of one.";
  rung.claims = {"GR7", "S8"};
  rung.kernel = tile_kernel<Tile, padded_product>();
  rung.launch = &launch_tiles<Tile, padded_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
