#include "probes/model_validation/occupancy_kernels.h"

#include <array>

#include "harness/cuda_check.h"

namespace fathom::model_validation {
namespace {

using Occupant = void (*)(unsigned*, unsigned);

/// Takes more than `Ballast` registers, each holding a reading of the clock, which the compiler can
/// neither repeat nor foresee, and `SharedWords` words of static shared memory.
template <int Ballast, int SharedWords>
__global__ void occupant(unsigned* out, unsigned seed) {
  unsigned held[Ballast];
#pragma unroll
  for (int i = 0; i < Ballast; ++i) asm volatile("mov.u32 %0, %%clock;" : "=r"(held[i])::"memory");
  if constexpr (SharedWords > 0) {
    __shared__ volatile unsigned words[SharedWords];
    words[threadIdx.x % SharedWords] = seed;
    __syncthreads();
    seed ^= words[(threadIdx.x + 1) % SharedWords];
  }
  // Each step needs the one before, so all of `held` lives until here.
#pragma unroll
  for (int i = 0; i < Ballast; ++i) seed = (seed ^ held[i]) * 3;
  *out = seed;
}

constexpr std::array<Occupant, occupants> kernels{
    occupant<1, 0>,   occupant<12, 0>,    occupant<20, 0>,    occupant<28, 0>,
    occupant<36, 0>,  occupant<44, 0>,    occupant<60, 0>,    occupant<76, 0>,
    occupant<100, 0>, occupant<132, 0>,   occupant<180, 0>,   occupant<220, 0>,
    occupant<4, 256>, occupant<24, 1250>, occupant<52, 4096>, occupant<90, 12288>};

}  // namespace

cudaFuncAttributes occupant_attributes(int occupant) {
  const Occupant kernel = kernels.at(static_cast<std::size_t>(occupant));
  int device = 0, most_shared = 0;
  FATHOM_CUDA(cudaGetDevice(&device));
  FATHOM_CUDA(
      cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   most_shared - static_cast<int>(attributes.sharedSizeBytes)));
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  return attributes;
}

int driver_blocks(int occupant, int threads, int dynamic_shared, int carveout_percent) {
  const Occupant kernel = kernels.at(static_cast<std::size_t>(occupant));
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   carveout_percent));
  int blocks = 0;
  FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, threads, static_cast<std::size_t>(dynamic_shared)));
  return blocks;
}

}  // namespace fathom::model_validation
