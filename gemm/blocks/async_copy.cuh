#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

// Copies from global to shared memory that no register waits for (cp.async, sm_80 and later). What
// is compiled for an older chip is never launched there. Compiled as C++ (tests/host) a copy is
// done at once, and nobody has to wait for it.

namespace fathom::gemm {

/// Address of a pointer to shared memory as PTX wants it.
__device__ inline std::uint32_t shared_address([[maybe_unused]] const void* pointer) {
#ifdef __CUDACC__
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
#else
  return 0;
#endif
}

/// Copies `Bytes`: 4 go through the L1, 16 past it, since an SM reads a tile once.
template <int Bytes>
__device__ inline void async_copy([[maybe_unused]] void* to, [[maybe_unused]] const void* from) {
  static_assert(Bytes == 4 || Bytes == 16);
#ifndef __CUDACC__
  using Word = std::conditional_t<Bytes == 4, float, float4>;
  *static_cast<Word*>(to) = *static_cast<const Word*>(from);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const std::uint32_t target = shared_address(to);
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(target), "l"(from) : "memory");
  }
#endif
}

/// Ends a group of copies; an empty group is done at once.
__device__ inline void async_commit() {
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's newest groups are under way.
template <int Pending>
__device__ inline void async_wait() {
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

}  // namespace fathom::gemm
