#pragma once

#include <cstdint>

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/tma.cuh"

// What contenders do with barriers beside what lessons need (gemm/blocks/tma.cuh).

namespace fathom::gemm {

/// Whether the phase has ended (try_wait), asked without suspending the thread.
__device__ inline bool has_ended(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t ended;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, "
      "0, p;\n}"
      : "=r"(ended)
      : "r"(barrier), "r"(parity)
      : "memory");
  return ended != 0;
}

/// Meets `threads` threads of a block at hardware barrier `id`.
__device__ inline void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives at barrier `id` for `threads` threads in all, without waiting for them: those that
/// `named_barrier` then meet this one. They take no issue slots while they wait.
__device__ inline void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Brings the map itself into the cache that TMA reads it from.
__device__ inline void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace fathom::gemm
