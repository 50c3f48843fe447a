// Where B lies in shared memory follows who reads it: lanes that read at the same time read
// neighbours.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/by_thread_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 8, 8, PlainLayout, ByThreadLayout>;

__global__ void __launch_bounds__(Tile::threads, 2) linearised_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung linearised() {
  Rung rung;
  rung.id = "fp32/11_linearised";
  rung.of = Class::fp32;
  rung.idea = "B's tile is laid out by reading thread: the lanes of a warp find their j-th elements "
              "side by side.";
  rung.gain = "Before, a lane's eight neighbours lay eight words from the next lane's, and a warp's "
              "reads of B met in the same banks; now they do not, at the price of eight loads where two "
              "of 16 bytes did.";
  rung.claims = {"GR6"};
  rung.kernel = tile_kernel<Tile, linearised_product>();
  rung.launch = &launch_tiles<Tile, linearised_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
