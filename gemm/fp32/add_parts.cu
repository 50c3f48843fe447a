// The second half of a product whose k was cut into parts: their sums, added up in order, so that the
// result is the same every time.

#include <algorithm>

#include "gemm/blocks/epilogue.cuh"
#include "gemm/fp32/tilings.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) add_parts(Product<float> p, int parts, const float* sums) {
  const std::int64_t elements = static_cast<std::int64_t>(p.m) * p.n;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < elements;
       i += stride) {
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += sums[part * elements + i];
    const auto row = static_cast<int>(static_cast<unsigned long long>(i) / static_cast<unsigned>(p.n));
    store_element(p, row, static_cast<int>(i - static_cast<std::int64_t>(row) * p.n), sum);
  }
}

}  // namespace

void launch_add_parts(const Arguments& arguments, int parts, const float* sums, cudaStream_t stream) {
  const auto p = row_major<float>(arguments);
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(p.m) * p.n, threads);
  add_parts<<<static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 16)), threads, 0, stream>>>(
      p, parts, sums);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::gemm::fp32
