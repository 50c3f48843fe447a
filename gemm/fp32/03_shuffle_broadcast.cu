// Column-major and without shared memory: what all threads of a column need of B, one lane each
// loads, and the warp hands it round.

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/fp32/rungs.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

constexpr int warp = 32;
constexpr int columns = 8;  // of a block; one a warp

__global__ void __launch_bounds__(warp * columns) shuffle_product(Product<float> p, int tiles_m) {
  const int lane = threadIdx.x % warp;
  const int row = blockIdx.x % tiles_m * warp + lane;
  const int column = blockIdx.x / tiles_m * columns + threadIdx.x / warp;
  if (column >= p.n) return;  // the whole warp: lanes below the last row must stay to hand on B
  const int safe_row = min(row, p.m - 1);
  float sum = 0;
  int first = 0;
  for (; first + warp <= p.k; first += warp) {
    const float b = p.b(first + lane, column);
#pragma unroll
    for (int k = 0; k < warp; ++k)
      sum += p.a(safe_row, first + k) * __shfl_sync(0xFFFFFFFFu, b, k);
  }
  const float b = first + lane < p.k ? p.b(first + lane, column) : 0.0f;
  for (int k = 0; first + k < p.k; ++k)
    sum += p.a(safe_row, first + k) * __shfl_sync(0xFFFFFFFFu, b, k);
  if (row < p.m) store_element(p, row, column, sum);
}

void launch(const Arguments& arguments, const Workspace&, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  const auto p = column_major<float>(arguments);
  const TileGrid tiles(p.m, p.n, warp, columns);
  shuffle_product<<<tiles.blocks(), warp * columns, 0, stream>>>(p, tiles.tiles_m);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

Rung shuffle_broadcast() {
  Rung rung;
  rung.id = "fp32/03_shuffle_broadcast";
  rung.of = Class::fp32;
  rung.idea = "Column-major naive: a lane loads one of 32 elements of B and the warp's shuffle broadcasts it.";
  rung.gain = "One load of B in 32 steps instead of one each; but a shuffle takes the same load/store units, "
              "so that little is gained over a broadcast load that hits the L1.";
  rung.claims = {"GC1", "GC10"};
  rung.kernel = {reinterpret_cast<const void*>(&shuffle_product), warp * columns, 0, warp, columns, 1};
  rung.launch = &launch;
  return rung;
}

}  // namespace fathom::gemm::fp32
