// A tile of each operand in shared memory: 32 x 32 elements that 1024 threads load once and each
// read 32 times.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

/// One element of C a thread.
using Tile = BlockTile<32, 32, 32, 1, 1>;

__global__ void __launch_bounds__(Tile::threads) shared_memory_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung shared_memory() {
  Rung rung;
  rung.id = "fp32/04_shared_memory";
  rung.of = Class::fp32;
  rung.idea = "A block of 1024 threads stages 32 x 32 tiles of A and B in shared memory; a thread "
              "computes one element.";
  rung.gain = "Global traffic falls 32-fold; but each multiplication still takes two loads, now from "
              "shared memory, so that its bandwidth is the new limit.";
  rung.claims = {"GR3"};
  rung.kernel = tile_kernel<Tile, shared_memory_product>();
  rung.launch = &launch_tiles<Tile, shared_memory_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
