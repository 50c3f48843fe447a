// The same as the column-major ladder has it (whose kernel on column-major memory is this one on the
// same memory seen row-major): 16 x 16 tiles, so that eight blocks and not
// two are resident.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<16, 16, 16, 1, 1>;

__global__ void __launch_bounds__(Tile::threads) shared_columns_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung shared_columns() {
  Rung rung;
  rung.id = "fp32/05_shared_columns";
  rung.of = Class::fp32;
  rung.idea = "The same step of the column-major ladder: 16 x 16 tiles of 256 threads.";
  rung.gain = "Half of the reuse of 32 x 32 tiles for smaller blocks, which wait less at their "
              "barriers.";
  rung.claims = {"GC2"};
  rung.kernel = tile_kernel<Tile, shared_columns_product>();
  rung.launch = &launch_tiles<Tile, shared_columns_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
