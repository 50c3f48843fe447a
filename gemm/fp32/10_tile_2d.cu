// Eight by eight elements of C a thread in a tile of 128 x 128: an outer product of two fragments
// in registers.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 8, 8>;

__global__ void __launch_bounds__(Tile::threads, 2) tile_2d_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung tile_2d() {
  Rung rung;
  rung.id = "fp32/10_tile_2d";
  rung.of = Class::fp32;
  rung.idea = "A thread computes 8 x 8 elements as an outer product of two fragments in registers; the "
              "block tile is 128 x 128 x 8.";
  rung.gain = "Sixteen elements from shared memory for 64 multiplications: arithmetic becomes the "
              "limit, once loads and conflicts are out of the way.";
  rung.claims = {"GR5"};
  rung.kernel = tile_kernel<Tile, tile_2d_product>();
  rung.launch = &launch_tiles<Tile, tile_2d_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
