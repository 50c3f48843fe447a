// Four by four elements of C a thread in a tile of 64 x 64, of the column-major ladder. Small enough for many blocks,
// with every index checked: the kernel that later rungs give products to which theirs cannot do.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"
#include "gemm/fp32/fallback.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<64, 64, 16, 4, 4>;

__global__ void __launch_bounds__(Tile::threads) tile_64_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

void launch_fallback(const Arguments& arguments, cudaStream_t stream) {
  launch_tiles<Tile, tile_64_product>(arguments, {}, stream);
}

Rung tile_64() {
  Rung rung;
  rung.id = "fp32/09_tile_64";
  rung.of = Class::fp32;
  rung.idea = "The column-major ladder's tile: 4 x 4 elements a thread, a tile of 64 x 64 x 16.";
  rung.gain = "Eight shared loads for sixteen multiplications, and half of the global traffic of a tile of 32.";
  rung.claims = {"GC4"};
  rung.kernel = tile_kernel<Tile, tile_64_product>();
  rung.launch = &launch_tiles<Tile, tile_64_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
