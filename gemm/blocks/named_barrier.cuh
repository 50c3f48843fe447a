#pragma once

namespace fathom::gemm {

/// Meets `threads` threads of a block at hardware barrier `id`.
__device__ inline void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives at barrier `id` for `threads` threads in all, without waiting for them: those that
/// `named_barrier` then meet this one. They take no issue slots while they wait.
__device__ inline void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace fathom::gemm
