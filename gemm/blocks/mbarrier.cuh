#pragma once

#include <cstdint>

#include "gemm/blocks/async_copy.cuh"

// Barriers in shared memory that count arrivals and bytes (PTX ISA, mbarrier; sm_90 and later),
// alone and across a cluster. A barrier is a 64-bit word, given by its shared-memory address; its
// phases alternate between parity 0 and 1.

namespace fathom::gemm {

/// Makes a barrier whose phase ends after so many arrivals and all bytes expected until then.
__device__ inline void barrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// After the last barrier_init: the other blocks of the cluster and TMA, which works
/// through the asynchronous proxy, see the barriers once the threads have met.
__device__ inline void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives, and has the phase wait for so many bytes more.
__device__ inline void arrive_expect_tx(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}

/// Arrives at the barrier of the same address in block `rank` of the cluster. It hands over no
/// memory of this thread's, only says that reads are done that were waited for, and so orders
/// nothing: an arrival that releases to the cluster costs a fence of the whole GPU.
__device__ inline void arrive_at(std::uint32_t barrier, std::uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

/// Tries of a wait before it gives up: each suspends the thread for a while, so that this is
/// seconds. Right code never comes near; a wrong one ends with an error instead of hanging the GPU.
inline constexpr int most_tries = 1 << 26;

/// Whether the phase of this parity has ended; suspends the thread for a while if it has not. What
/// the TMA wrote is then seen; memory that threads of other blocks wrote need not be (acquiring
/// from the cluster costs the L1's content).
__device__ inline bool try_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred ended;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
      "selp.u32 %0, 1, 0, ended;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

/// The same, asked without suspending the thread.
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

/// Waits until the phase of this parity has ended (try_wait).
__device__ inline void wait(std::uint32_t barrier, std::uint32_t parity) {
#pragma unroll 1
  for (int tries = 0; tries < most_tries; ++tries) {
    if (try_wait(barrier, parity)) return;
  }
  __trap();
}

/// The same, asleep for so many nanoseconds between tries: for a thread that has time, and whose
/// tries would take issue slots from warps that multiply.
__device__ inline void wait_asleep(std::uint32_t barrier, std::uint32_t parity,
                                   unsigned nanoseconds) {
#pragma unroll 1
  for (int tries = 0; tries < most_tries; ++tries) {
    if (try_wait(barrier, parity)) return;
    __nanosleep(nanoseconds);
  }
  __trap();
}

__device__ inline std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Every thread of every block of the cluster meets here; what was written before is seen after.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// Where a ring of `Stages` buffers stands: which one is next, and the parity of the round.
template <int Stages>
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;
  __device__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

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
