#pragma once

#include <cuda.h>

#include <cstdint>

// Tiles moved by TMA (the tensor memory accelerator; sm_90 and later). A tensor
// map says how a matrix lies in memory (gemm/blocks/tensor_map.h); coordinates are in elements, the
// contiguous dimension first; what lies outside the matrix is read as zero and not written. Of each
// of these functions one thread's call is the whole copy.

namespace fathom::gemm {

/// Brings the map itself into the cache that TMA reads it from.
__device__ inline void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// How the L2 shall hold lines: so much of them, from 0 to 1, leaves last.
__device__ inline std::uint64_t keeping_policy(float share) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, %1;"
      : "=l"(policy)
      : "f"(share));
  return policy;
}
/// Like any others, also those that were kept.
__device__ inline std::uint64_t ordinary_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0;" : "=l"(policy));
  return policy;
}

/// Loads the map's box at (x, y) to shared memory, and counts its bytes on the barrier. `Hinted`:
/// the L2 is told how to hold its lines.
template <bool Hinted>
__device__ inline void load_box(std::uint32_t target, const CUtensorMap& map, int x, int y,
                                std::uint32_t barrier, std::uint64_t policy) {
  if constexpr (Hinted) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
        "l"(&map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(target),
        "l"(&map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
  }
}

/// The same to the same address of every block of the cluster whose bit is set, and on the barrier
/// of the same address there: the box crosses from the L2 once.
template <bool Hinted>
__device__ inline void load_box_multicast(std::uint32_t target, const CUtensorMap& map, int x,
                                          int y, std::uint32_t barrier, std::uint16_t blocks,
                                          std::uint64_t policy) {
  if constexpr (Hinted) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(target),
        "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks), "l"(policy)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
        "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
        : "memory");
  }
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

/// Between this thread's own accesses to shared memory and TMA's (or the tensor cores') to
/// the same: those go through the asynchronous proxy.
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace fathom::gemm
