// The block stage as published (claim R3), and with its one mistake mended. The published one
// stores the first warp's lanes where each warp's first lane belongs.

#include "harness/cuda_check.h"
#include "probes/warp_reduce/warp_stage_kernels.h"

namespace fathom::warp_reduce {
namespace {

template <bool published>
__global__ void block_stage(const float* source, float* sums) {
  __shared__ float partial[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float x = source[blockIdx.x * block_stage_threads + threadIdx.x];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    x += __shfl_down_sync(0xFFFFFFFFu, x, distance);
  if ((published ? warp : lane) == 0) partial[published ? lane : warp] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < block_stage_threads / 32; ++i) x += partial[i];
  sums[blockIdx.x] = x;
}

}  // namespace

void launch_block_stage(bool published, const std::byte* source, std::byte* sums, int blocks,
                        cudaStream_t stream) {
  (published ? block_stage<true> : block_stage<false>)<<<blocks, block_stage_threads, 0, stream>>>(
      reinterpret_cast<const float*>(source), reinterpret_cast<float*>(sums));
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::warp_reduce
