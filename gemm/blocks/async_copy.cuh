#pragma once

#include <cstdint>

// Copies from global to shared memory that no register waits for (cp.async, sm_80 and later). What
// is compiled for an older chip is never launched there.

namespace fathom::gemm {

/// Address of a pointer to shared memory as the copies want it.
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Copies `Bytes` (4 or 16); where `valid` is false it writes zeros and does not read. Four bytes
/// go through the L1, sixteen past it: those of a tile are not read twice by one SM.
template <int Bytes>
__device__ inline void async_copy(std::uint32_t target, const void* source, bool valid = true) {
  static_assert(Bytes == 4 || Bytes == 16);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const std::uint32_t size = valid ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
                 "r"(size)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(source),
                 "r"(size)
                 : "memory");
  }
#else
  (void)target, (void)source, (void)valid;
#endif
}

/// Ends a group of copies; an empty group is done at once.
__device__ inline void async_commit() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's newest groups are under way.
template <int Pending>
__device__ inline void async_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

}  // namespace fathom::gemm
