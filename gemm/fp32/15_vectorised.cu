// Every access to memory has 16 bytes: four of k of a row of A, stored as four lines of the
// transposed tile, and four columns of B and of C.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/blocks/vectorised_product.cuh"
#include "gemm/fp32/fallback.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 8, 8, PaddedLayout, PlainLayout>;

__global__ void __launch_bounds__(Tile::threads) vectorised_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  vectorised_tile_product<Tile>(p, tiles_n, shared);
}

}  // namespace

Rung vectorised() {
  Rung rung;
  rung.id = "fp32/15_vectorised";
  rung.of = Class::fp32;
  rung.idea =
      "Global and shared memory are read and written by 16 bytes; A is transposed as it is stored.";
  rung.gain =
      "A quarter of the load and store instructions, which leaves their issue slots to "
      "multiplications.";
  rung.claims = {"GR9"};
  compute_whole_tiles<Tile, vectorised_product, launch_fallback>(rung);
  return rung;
}

}  // namespace fathom::gemm::fp32
