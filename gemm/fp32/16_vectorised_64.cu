// The same for the tile of 64 x 64 of the column-major ladder.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/blocks/vectorised_product.cuh"
#include "gemm/fp32/fallback.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<64, 64, 16, 4, 4, PaddedLayout, PlainLayout>;

__global__ void __launch_bounds__(Tile::threads)
    vectorised_64_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  vectorised_tile_product<Tile>(p, tiles_n, shared);
}

}  // namespace

Rung vectorised_64() {
  Rung rung;
  rung.id = "fp32/16_vectorised_64";
  rung.of = Class::fp32;
  rung.idea =
      "The column-major ladder's step: its tile of 64 x 64 with 16-byte accesses and a transposed "
      "store.";
  rung.gain = "As the rung before, with more blocks and twice the traffic.";
  rung.claims = {"GC5"};
  compute_whole_tiles<Tile, vectorised_64_product, launch_fallback>(rung);
  return rung;
}

}  // namespace fathom::gemm::fp32
