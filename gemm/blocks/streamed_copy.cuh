#pragma once

#include <cstdint>

// Contiguous bytes moved by TMA, without a tensor map (PTX ISA, cp.async.bulk; sm_90
// and later). Addresses and sizes are multiples of 16. Of each function one thread's call is the
// whole copy.

namespace fathom::gemm {

/// True in one lane of a warp that is whole here. The compiler knows that it is one, and gives
/// copies in a branch on it addresses of the whole warp; after any other condition each copy is a
/// loop over lanes.
__device__ inline bool is_elected() {
  std::uint32_t elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected));
  return elected != 0;
}

/// Lines that leave the L2 before others.
__device__ inline std::uint64_t leaving_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  return policy;
}

/// Copies `bytes` to shared memory, and counts them on the barrier. `Hinted`: the L2 is told how to
/// hold the lines.
template <bool Hinted>
__device__ inline void load_run(std::uint32_t target, const void* source, std::uint32_t bytes,
                                std::uint32_t barrier, std::uint64_t policy) {
  if constexpr (Hinted) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], %4;" ::"r"(target),
        "l"(source), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], %2, [%3];" ::"r"(target),
        "l"(source), "r"(bytes), "r"(barrier)
        : "memory");
  }
}

}  // namespace fathom::gemm
