// Two by two elements of C a thread: the next step of the column-major ladder.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<32, 32, 16, 2, 2>;

__global__ void __launch_bounds__(Tile::threads) tile_2x2_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung tile_2x2() {
  Rung rung;
  rung.id = "fp32/08_tile_2x2";
  rung.of = Class::fp32;
  rung.idea = "The column-major ladder's next step: 2 x 2 elements a thread in a 32 x 32 tile.";
  rung.gain = "Four shared loads for four multiplications.";
  rung.claims = {"GC3"};
  rung.kernel = tile_kernel<Tile, tile_2x2_product>();
  rung.launch = &launch_tiles<Tile, tile_2x2_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
