#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "gemm/blocks/matrix.cuh"

// Tiles moved by TMA (the tensor memory accelerator), the barriers that count their bytes, and the
// ring of stages that lies between who loads and who multiplies. sm_90 and later.

namespace fathom::gemm {

// Barriers in shared memory that count arrivals and bytes (PTX ISA, mbarrier), also across a
// cluster: 64-bit words, given by their address, whose phases alternate between parity 0 and 1.

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

/// Waits until the phase of this parity has ended (try_wait).
__device__ inline void wait(std::uint32_t barrier, std::uint32_t parity) {
#pragma unroll 1
  for (int tries = 0; tries < most_tries; ++tries) {
    if (try_wait(barrier, parity)) return;
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

// TMA. A tensor map says how a matrix lies in memory (gemm/blocks/tensor_map.h); coordinates are in
// elements, the contiguous dimension first; what lies outside the matrix is read as zero and not
// written. One thread's call of these functions is the whole copy.

/// Loads the map's box at (x, y) to shared memory, and counts its bytes on the barrier.
__device__ inline void load_box(std::uint32_t target, const CUtensorMap& map, int x, int y,
                                std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(target),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// The same to the same address of every block of the cluster whose bit is set, and on the barrier
/// of the same address there: the box crosses from the L2 once.
__device__ inline void load_box_multicast(std::uint32_t target, const CUtensorMap& map, int x,
                                          int y, std::uint32_t barrier, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}

/// Stores a box from shared memory; belongs to the thread's open group of stores.
__device__ inline void store_box(const CUtensorMap& map, int x, int y, std::uint32_t source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(x), "r"(y), "r"(source)
      : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until at most `Pending` of the thread's newest groups still read shared memory.
template <int Pending>
__device__ inline void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Waits until all of the thread's stores are complete.
__device__ inline void wait_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

/// Between this thread's accesses to shared memory and those of TMA or the tensor cores.
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// The ring's memory and barriers, all of them shared-memory addresses.
template <auto d>
struct TileRing {
  std::uint32_t tiles, barriers;

  static constexpr int bytes = d.stages * d.stage_bytes();
  static constexpr int barrier_bytes = 2 * 8 * d.stages;

  __device__ std::uint32_t a(int stage) const { return tiles + stage * d.stage_bytes(); }
  __device__ std::uint32_t b(int stage) const { return a(stage) + d.a_bytes(); }
  /// Ends when the stage's bytes have all arrived.
  __device__ std::uint32_t full(int stage) const { return barriers + 8 * stage; }
  /// Ends when every warp that reads what this block loads has read it.
  __device__ std::uint32_t empty(int stage) const { return barriers + 8 * (d.stages + stage); }

  /// By one thread; the cluster must meet before anybody uses the ring.
  __device__ void init(int reading_warps) const {
    for (int stage = 0; stage < d.stages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), reading_warps);
    }
    barrier_init_fence();
  }
};

/// Dynamic shared memory: the ring on 1024 bytes, `staging` for C, the barriers.
template <auto d, int staging = 0>
inline constexpr int ring_shared_bytes =
    1024 + TileRing<d>::bytes + staging + TileRing<d>::barrier_bytes;

/// The ring at the start of dynamic shared memory; its barriers are behind `staging` bytes.
template <auto d, int staging = 0>
__device__ inline TileRing<d> make_ring(const std::byte* shared) {
  TileRing<d> ring;
  ring.tiles = (static_cast<std::uint32_t>(__cvta_generic_to_shared(shared)) + 1023) / 1024 * 1024;
  ring.barriers = ring.tiles + TileRing<d>::bytes + staging;
  return ring;
}

}  // namespace fathom::gemm
