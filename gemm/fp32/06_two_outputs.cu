// Two elements of C a thread: two independent sums, and one load of B for both.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<32, 32, 32, 2, 1>;

__global__ void __launch_bounds__(Tile::threads) two_outputs_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung two_outputs() {
  Rung rung;
  rung.id = "fp32/06_two_outputs";
  rung.of = Class::fp32;
  rung.idea = "Each of 512 threads computes two elements of a column: instruction-level parallelism of "
              "two.";
  rung.gain = "An element of B is used twice from a register: three shared loads for two "
              "multiplications instead of four. Little, while shared memory is the limit.";
  rung.claims = {"G1"};
  rung.kernel = tile_kernel<Tile, two_outputs_product>();
  rung.launch = &launch_tiles<Tile, two_outputs_product>;
  return rung;
}

}  // namespace fathom::gemm::fp32
