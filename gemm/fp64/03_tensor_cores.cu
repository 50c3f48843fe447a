// The same tile on the tensor cores: a warp's products of 8 x 8 x 4, which every GPU with fp64
// tensor cores has. An A100 does them at twice the rate of its FP64 pipes; Hopper, whose pipes are
// as many again, at half the rate of its own larger ones, so that nothing is won there yet but
// instructions.

#include "gemm/blocks/launch.cuh"
#include "gemm/fp64/dmma_tile.cuh"
#include "gemm/fp64/rungs.h"

namespace fathom::gemm::fp64 {
namespace {

using Tile = DmmaTile<16, false>;

__global__ void __launch_bounds__(Tile::threads)
    tensor_cores_product(Product<double> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung tensor_cores() {
  Rung rung;
  rung.id = "fp64/03_tensor_cores";
  rung.of = Class::fp64;
  rung.idea =
      "mma.sync.m8n8k4: a warp multiplies 64 x 32 x 4 by 32 products of 8 x 8 x 4 on the tensor "
      "cores.";
  rung.gain =
      "Four k of a 64 x 32 tile take 12 loads and 32 products of a warp instead of 64 loads and "
      "256 FMAs: one instruction for eight. The rate is the FP64 pipes' on Hopper, twice theirs "
      "on an A100.";
  rung.capability = 80;
  rung.kernel = tile_kernel<Tile, tensor_cores_product>();
  rung.launch = &launch_tiles<Tile, tensor_cores_product, SameTypes<double>>;
  return rung;
}

}  // namespace fathom::gemm::fp64
