// Products of 16 x 8 x 16, eight times as large, which Hopper brought.

#include "gemm/blocks/launch.cuh"
#include "gemm/fp64/dmma_tile.cuh"
#include "gemm/fp64/rungs.h"

namespace fathom::gemm::fp64 {
namespace {

using Tile = DmmaTile<16, true>;

__global__ void __launch_bounds__(Tile::threads)
    wide_products_product(Product<double> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung wide_products() {
  Rung rung;
  rung.id = "fp64/04_wide_products";
  rung.of = Class::fp64;
  rung.idea = "mma.sync.m16n8k16: the same tile by products of 16 x 8 x 16.";
  rung.gain =
      "Hopper's tensor cores do 128 multiplications a clock and SM by these and 64 by those of 8 "
      "x 8 x 4 (measured by the probe instructions); but while a tile is fetched nobody "
      "multiplies.";
  rung.capability = 90;
  rung.kernel = tile_kernel<Tile, wide_products_product>();
  rung.launch = &launch_tiles<Tile, wide_products_product, SameTypes<double>>;
  return rung;
}

}  // namespace fathom::gemm::fp64
