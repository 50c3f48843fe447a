#include "probes/model_validation/kernels.h"

namespace fathom::model_validation {
namespace {

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

}  // namespace

const std::array<Occupant, 16> occupants{
    occupant<1, 0>,    occupant<66, 0>,    occupant<76, 0>,     occupant<84, 0>,
    occupant<92, 0>,   occupant<102, 0>,   occupant<112, 0>,    occupant<126, 0>,
    occupant<142, 0>,  occupant<164, 0>,   occupant<196, 0>,    occupant<236, 0>,
    occupant<60, 256>, occupant<80, 1250>, occupant<104, 4096>, occupant<150, 10240>};

}  // namespace fathom::model_validation
