#pragma once

namespace fathom::gemm {

/// Meets `threads` threads of a block at hardware barrier `id`.
__device__ inline void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace fathom::gemm
