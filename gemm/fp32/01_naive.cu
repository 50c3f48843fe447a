// One thread, one element of C, and neighbouring threads take neighbouring rows: where the order of the
// threads ignores how the memory is laid out, every load of a warp touches 32 rows.

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/fp32/rungs.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

constexpr int side = 32;  // of a block's square tile

__global__ void __launch_bounds__(side * side) naive_product(Product<float> p, int tiles_m) {
  const int row = blockIdx.x % tiles_m * side + threadIdx.x % side;
  const int column = blockIdx.x / tiles_m * side + threadIdx.x / side;
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum += p.a(row, k) * p.b(k, column);
  store_element(p, row, column, sum);
}

void launch(const Arguments& arguments, const Workspace&, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  const auto p = row_major<float>(arguments);
  const TileGrid tiles(p.m, p.n, side, side);
  naive_product<<<tiles.blocks(), side * side, 0, stream>>>(p, tiles.tiles_m);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

Rung naive() {
  Rung rung;
  rung.id = "fp32/01_naive";
  rung.of = Class::fp32;
  rung.idea = "One thread computes one element of C, and a warp's lanes go down a column of a row-major C.";
  rung.gain = "The start. A warp's load of A touches 32 rows, one sector each, of which it uses 4 bytes, and "
              "its store likewise: the L1 and the L2 are busy with sectors of which an eighth is used.";
  rung.claims = {"GR1", "V11"};
  rung.kernel = {reinterpret_cast<const void*>(&naive_product), side * side, 0, side, side, 1};
  rung.launch = &launch;
  return rung;
}

}  // namespace fathom::gemm::fp32
