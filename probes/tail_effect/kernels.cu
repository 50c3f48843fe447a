#include "probes/tail_effect/kernels.h"

namespace fathom::tail_effect {

__global__ void __launch_bounds__(1024) fma_chain(float* out, int iterations) {
  float x = start_value(threadIdx.x % 32);
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < steps_per_iteration; ++step) x = __fmaf_rn(x, factor, addend);
  }
  out[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = x;
}

__global__ void __launch_bounds__(1024)
    chunk_copy(const uint4* src, uint4* dst, std::size_t chunk_vectors) {
  const std::size_t first = blockIdx.x * chunk_vectors;
#pragma unroll 4
  for (std::size_t i = threadIdx.x; i < chunk_vectors; i += blockDim.x)
    dst[first + i] = src[first + i];
}

}  // namespace fathom::tail_effect
