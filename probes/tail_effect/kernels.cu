#include "probes/device/launch.h"
#include "probes/tail_effect/kernels.h"

namespace fathom::tail_effect {
namespace {

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

template <class Kernel>
int resident_blocks(Kernel kernel, int threads, int dynamic_shared) {
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_shared));
  return resident_blocks_of(kernel, threads, dynamic_shared);
}

}  // namespace

void launch_chain(float* out, int iterations, const Blocks& grid, cudaStream_t stream) {
  fma_chain<<<grid.blocks, grid.threads, grid.dynamic_shared, stream>>>(out, iterations);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_copy(const std::byte* src, std::byte* dst, std::size_t chunk_bytes, const Blocks& grid,
                 cudaStream_t stream) {
  chunk_copy<<<grid.blocks, grid.threads, grid.dynamic_shared, stream>>>(
      reinterpret_cast<const uint4*>(src), reinterpret_cast<uint4*>(dst),
      chunk_bytes / sizeof(uint4));
  FATHOM_CUDA(cudaGetLastError());
}

int resident_chains(int threads, int dynamic_shared) {
  return resident_blocks(fma_chain, threads, dynamic_shared);
}
int resident_copies(int threads, int dynamic_shared) {
  return resident_blocks(chunk_copy, threads, dynamic_shared);
}

}  // namespace fathom::tail_effect
