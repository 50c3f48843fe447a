#include "probes/model_validation/occupancy_kernels.h"

#include <array>

#include "probes/device/launch.h"

namespace fathom::model_validation {
namespace {

using Occupant = void (*)(volatile unsigned*);

/// Holds `Readings` readings of the clock, which the compiler can neither repeat nor foresee, and
/// takes `SharedWords` words of static shared memory. How many registers that is, the compiler
/// decides (some fifty fewer than readings, on GH100): the driver is asked, and a compiled-code
/// test sees to it that they differ.
template <int Readings, int SharedWords>
__global__ void occupant(volatile unsigned* memory) {
  unsigned held[Readings];
#pragma unroll
  for (int i = 0; i < Readings; ++i) asm volatile("mov.u32 %0, %%clock;" : "=r"(held[i])::"memory");
  // Known after a loop only, so that nothing can be computed from the readings before it.
  unsigned seed = 0;
#pragma unroll 1
  for (unsigned i = 0; i < *memory; ++i) seed += memory[i];
#pragma unroll
  for (int i = 0; i < Readings; ++i) seed = (seed ^ held[i]) * 3;
  if constexpr (SharedWords > 0) {
    __shared__ volatile unsigned words[SharedWords];
    words[threadIdx.x % SharedWords] = seed;
    __syncthreads();
    seed ^= words[(threadIdx.x + 1) % SharedWords];
  }
  *memory = seed;
}

constexpr std::array<Occupant, occupants> kernels{
    occupant<1, 0>,    occupant<66, 0>,    occupant<76, 0>,     occupant<84, 0>,
    occupant<92, 0>,   occupant<102, 0>,   occupant<112, 0>,    occupant<126, 0>,
    occupant<142, 0>,  occupant<164, 0>,   occupant<196, 0>,    occupant<236, 0>,
    occupant<60, 256>, occupant<80, 1250>, occupant<104, 4096>, occupant<150, 10240>};

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
  return resident_blocks_of(kernel, threads, static_cast<std::size_t>(dynamic_shared));
}

void launch_occupant(int occupant, unsigned* memory, cudaStream_t stream) {
  kernels.at(static_cast<std::size_t>(occupant))<<<1, 1, 0, stream>>>(memory);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::model_validation
