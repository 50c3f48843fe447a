#pragma once

#include "gemm/fp64/warp_sums.cuh"

// The contender's kernel: one thread has TMA fill a ring of stages, warps multiply from it on the
// tensor cores.

namespace fathom::gemm::fp64 {

/// Registers of a producer thread and of a consumer thread, of the 168 that each of 384 starts
/// with.
inline constexpr int producer_registers = 40, consumer_registers = 232;

/// A cluster is a worker; the blocks of one are neighbours.
template <KernelConfig d>
__device__ inline int worker_of_block() {
  return reload_block_id() / d.cluster_n;
}
template <KernelConfig d>
__device__ inline int rank_of_block() {
  return reload_block_id() % d.cluster_n;
}

template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void load_segments(const DmmaProduct& p, const Ring<d>& ring) {
  prefetch_map(p.a.of[0]);
  prefetch_map(p.b.of[0]);
  RingPosition<d.stages> position;
  TileScheduler scheduler(p, worker_of_block<d>());
  for (Segment s; scheduler.next(p, worker_of_block<d>(), s);) {
    const TileIndex corner = corner_of<d>(p, s.tile, rank_of_block<d>());
    for (int step = s.first; step < s.first + s.count; ++step) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      load_stage<d, a_major, b_major>(p, ring, position.stage, rank_of_block<d>(), corner.m,
                                      corner.n, step * stage_depth);
      position.advance();
    }
  }
}

/// Of a tile that this worker began, what others have added, in order.
template <KernelConfig d>
__device__ inline void fixup(const DmmaProduct& p, WarpSums<d>& sums, int tile) {
  const long long end = static_cast<long long>(tile + 1) * p.depth;
  int other = worker_of_block<d>() + 1;
  for (long long begin = TileScheduler::share_begin(p, other); begin < end; ++other) {
    const long long next = TileScheduler::share_begin(p, other + 1);
    // A share may have nothing in it.
    if (next > begin) add_partial(p, sums, other * d.cluster_n + rank_of_block<d>());
    begin = next;
  }
}

/// Computes this worker's segments; `accumulate` adds so many stages to sums.
template <KernelConfig d, Major a_major, Major b_major, class Accumulate>
__device__ inline void compute_segments(const DmmaProduct& p, const Accumulate& accumulate) {
  TileScheduler scheduler(p, worker_of_block<d>());
  for (Segment s; scheduler.next(p, worker_of_block<d>(), s);) {
    WarpSums<d> sums;
    sums.clear();
    accumulate(s.count, sums);
    if (s.first > 0) {
      store_partial(p, sums, reload_block_id());
      continue;
    }
    if (s.tile < p.stream_tiles) fixup(p, sums, s.tile);
    store<d, a_major, b_major>(p, sums, corner_of<d>(p, s.tile, rank_of_block<d>()));
  }
}

template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void multiply_segments(const DmmaProduct& p, const Ring<d>& ring) {
  WarpPlace<d, a_major, b_major> place(p.a.split, p.b.split);
  if constexpr (d.late_reads) {
    RingCursor<d> position(ring);
    place.a.move(ring.a(0));
    place.b.move(ring.b(0));
    compute_segments<d, a_major, b_major>(
        p, [&](int steps, WarpSums<d>& sums) { accumulate_late<d>(position, steps, place, sums); });
  } else {
    RingPosition<d.stages> position;
    compute_segments<d, a_major, b_major>(p, [&](int steps, WarpSums<d>& sums) {
      if constexpr (d.m_blocks == 1) {
        accumulate_plainly<d>(ring, position, steps, place, sums);
      } else {
        accumulate<d>(ring, position, steps, place, sums);
      }
    });
  }
}

/// `Kernel` has the KernelConfig `config` and the Majors `a_major` and `b_major`.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::config.threads(), 1)
    tma_product(const __grid_constant__ DmmaProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr KernelConfig d = Kernel::config;
  static_assert(d.warps() == 8, "the register counts are those of two warpgroups");
  constexpr Major a_major = Kernel::a_major, b_major = Kernel::b_major;
  extern __shared__ std::byte shared[];
  Ring<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  if (threadIdx.x == 0) ring.init();
  if constexpr (d.cluster_n == 1) {
    __syncthreads();
  } else {
    cluster_sync();
  }
  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.warps() / 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(producer_registers));
    if (threadIdx.x % 128 == 0) load_segments<d, a_major, b_major>(p, ring);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(consumer_registers));
    multiply_segments<d, a_major, b_major>(p, ring);
  }
  // No block ends while another of its cluster may still arrive at its barriers.
  if constexpr (d.cluster_n > 1) cluster_sync();
#endif
}

}  // namespace fathom::gemm::fp64
