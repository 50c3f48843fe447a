// The same instructions as the rung before, with rows and columns of the thread exchanged: a warp's
// lanes go along a row.

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/fp32/rungs.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

constexpr int side = 32;

__global__ void __launch_bounds__(side * side) coalesced_product(Product<float> p, int tiles_n) {
  const int row = blockIdx.x / tiles_n * side + threadIdx.x / side;
  const int column = blockIdx.x % tiles_n * side + threadIdx.x % side;
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum += p.a(row, k) * p.b(k, column);
  store_element(p, row, column, sum);
}

void launch(const Arguments& arguments, const Workspace&, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  const auto p = row_major<float>(arguments);
  const TileGrid tiles(p.m, p.n, side, side);
  coalesced_product<<<tiles.blocks(), side * side, 0, stream>>>(p, tiles.tiles_n);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

Rung coalesced() {
  Rung rung;
  rung.id = "fp32/02_coalesced";
  rung.of = Class::fp32;
  rung.idea = "A warp's lanes go along a row of C: B and C are read and written in whole lines, A is broadcast.";
  rung.gain = "A warp's step takes 1 sector of A and 4 of B instead of 32 and 1, from the same instructions: "
              "several times the speed, until the load units are full, two loads to one multiplication.";
  rung.claims = {"GR2", "V11"};
  rung.kernel = {reinterpret_cast<const void*>(&coalesced_product), side * side, 0, side, side, 1};
  rung.launch = &launch;
  return rung;
}

}  // namespace fathom::gemm::fp32
