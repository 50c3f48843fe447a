// Two tiles of each operand in shared memory: while one is multiplied the next one is fetched, and
// one barrier a step is enough, since nobody writes what is being read.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/by_thread_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 8, 8, PaddedLayout, ByThreadLayout>;

__global__ void __launch_bounds__(Tile::threads, 2) double_buffered_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared[2];
  const int tile_row = static_cast<int>(blockIdx.x) / tiles_n * Tile::m;
  const int tile_column = static_cast<int>(blockIdx.x) % tiles_n * Tile::n;
  Tile tile;
  Tile::ElementLoad load(p, tile_row, tile_column);
  load.load(p, 0);
  load.store(shared[0]);
  __syncthreads();
  int reading = 0;
  for (int step = 0; step < p.k; step += Tile::k) {
    // On its way while the present tile is multiplied; after the last one it is zeros that nobody reads.
    load.load(p, step + Tile::k);
    tile.multiply(shared[reading]);
    reading ^= 1;
    load.store(shared[reading]);
    __syncthreads();
  }
  tile.store(p, tile_row, tile_column);
}

}  // namespace

Rung double_buffered() {
  Rung rung;
  rung.id = "fp32/14_double_buffered";
  rung.of = Class::fp32;
  rung.idea = "Shared memory holds two tiles of each operand: the next is fetched while the present "
              "one is multiplied, with one barrier a step.";
  rung.gain = "The latency of global memory hides behind 512 multiplications a thread, and half of "
              "the barriers go.";
  rung.claims = {"GR8", "G3"};
  rung.kernel = tile_kernel<Tile, double_buffered_product>();
  rung.launch = &launch_tiles<Tile, double_buffered_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
