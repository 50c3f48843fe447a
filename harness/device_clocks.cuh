#pragma once

#include <cstdint>

// The clocks of the GPU, for kernels that time themselves. Both are read where they stand: the
// assembly is volatile and touches memory, so that the compiler moves neither it nor a load or
// store across it.

namespace fathom {

/// The clock of the SM that runs the caller.
__device__ inline std::int64_t clock_now() {
  std::int64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

/// The timer of the whole GPU. Its steps are far coarser than a nanosecond.
__device__ inline std::int64_t nanoseconds_now() {
  std::int64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

/// The SM that runs the caller.
__device__ inline std::uint32_t sm_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

}  // namespace fathom
