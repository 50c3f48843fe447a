// A column of eight elements of C a thread: the first tile whose operands are reused in registers.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<64, 64, 8, 8, 1>;

__global__ void __launch_bounds__(Tile::threads) tile_1d_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung tile_1d() {
  Rung rung;
  rung.id = "fp32/07_tile_1d";
  rung.of = Class::fp32;
  rung.idea = "A thread computes 8 elements of a column from one element of B and 8 of A; the block "
              "tile grows to 64 x 64.";
  rung.gain = "Nine shared loads for eight multiplications instead of sixteen, and half of the global "
              "traffic of a 32 x 32 tile.";
  rung.claims = {"GR4"};
  rung.kernel = tile_kernel<Tile, tile_1d_product>();
  rung.launch = &launch_tiles<Tile, tile_1d_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
