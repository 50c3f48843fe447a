// A thread's share is 16 x 4 instead of 8 x 8 (4 x 16, seen column-major): a warp's lanes then
// store whole lines of C.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/blocks/vectorised_product.cuh"
#include "gemm/fp32/rungs.h"
#include "gemm/fp32/slower_path.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 16, 4, PaddedLayout, PlainLayout>;

__global__ void __launch_bounds__(Tile::threads) tile_16x4_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  vectorised_tile_product<Tile>(p, tiles_n, shared);
}

}  // namespace

Rung tile_16x4() {
  Rung rung;
  rung.id = "fp32/17_tile_16x4";
  rung.of = Class::fp32;
  rung.idea = "16 x 4 elements a thread: a warp covers 128 neighbouring columns, so that it reads B "
              "and stores C in whole lines.";
  rung.gain = "Stores of C are coalesced and B is read without conflicts, for 20 elements from "
              "shared memory instead of 16.";
  rung.claims = {"GC6", "GC9"};
  rung.kernel = tile_kernel<Tile, tile_16x4_product>();
  rung.launch = &launch_whole_tiles<Tile, tile_16x4_product, launch_slower_path>;
  rung.takes_own_path = &takes_whole_tiles<Tile>;
  return rung;
}

}  // namespace fathom::gemm::fp32
