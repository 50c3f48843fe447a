#pragma once

#include "gemm/fp64/warp_sums.cuh"

// The kernel of the upper rungs: one thread has the copy engine fill a ring of stages, warps multiply
// from it on the tensor cores.

namespace fathom::gemm::fp64 {

/// Registers of a thread that loads and of one that multiplies, of the 168 that each of 384 starts
/// with.
inline constexpr int loading_registers = 40, multiplying_registers = 232;

template <Design d, Major a_major, Major b_major>
__device__ inline void load_segments(const DmmaProduct& p, const Ring<d>& ring, int worker, int rank) {
  prefetch_map(p.a.of[0]);
  prefetch_map(p.b.of[0]);
  RingPosition<d.stages> position;
  WorkWalk walk(p, worker);
  for (Segment s; walk.next(s);) {
    const TileIndex corner = corner_of<d>(p, s.tile, rank);
    for (int step = s.first; step < s.first + s.count; ++step) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      load_stage<d, a_major, b_major>(p, ring, position.stage, rank, corner.m, corner.n, step * stage_depth);
      position.advance();
    }
  }
}

template <Design d, Major a_major, Major b_major>
__device__ inline void multiply_segments(const DmmaProduct& p, const Ring<d>& ring, int worker, int rank) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const WarpPlace<d, a_major, b_major> place(warp, p.a.split, p.b.split);
  RingPosition<d.stages> position;
  WorkWalk walk(p, worker);
  for (Segment s; walk.next(s);) {
    WarpSums<d> sums;
    sums.clear();
    if constexpr (d.m_blocks == 1) {
      accumulate_plainly<d>(ring, position, s.count, place, sums);
    } else if constexpr (d.b_streams) {
      accumulate_b_streams<d>(ring, position, s.count, place, sums);
    } else {
      accumulate<d>(ring, position, s.count, place, sums);
    }
    if constexpr (d.stream_k) {
      if (s.first > 0) {
        hand_over(p, sums, worker * d.cluster_n + rank, warp);
        continue;
      }
      const long long end = static_cast<long long>(s.tile + 1) * p.depth;
      if (s.tile < p.stream_tiles) {
        for (int other = worker + 1; WorkWalk::share_begin(p, other) < end; ++other) {
          // A share may have nothing in it.
          if (WorkWalk::share_begin(p, other) == WorkWalk::share_begin(p, other + 1)) continue;
          take_over(p, sums, other * d.cluster_n + rank, warp);
        }
      }
    }
    store<d>(p, sums, corner_of<d>(p, s.tile, rank), place);
  }
}

/// `Config` has the Design `design` and the Majors `a_major` and `b_major`.
template <class Config>
__global__ void __launch_bounds__(Config::design.threads(), 1)
    engine_product(const __grid_constant__ DmmaProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr Design d = Config::design;
  static_assert(d.warps() == 8, "the register counts are those of two warpgroups");
  constexpr Major a_major = Config::a_major, b_major = Config::b_major;
  extern __shared__ std::byte shared[];
  Ring<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  if (threadIdx.x == 0) ring.init();
  int rank = 0;
  if constexpr (d.cluster_n == 1) {
    __syncthreads();
  } else {
    rank = static_cast<int>(cluster_rank());
    cluster_sync();
  }
  const int worker = static_cast<int>(blockIdx.x) / d.cluster_n;
  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.warps() / 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    if (threadIdx.x % 128 == 0) load_segments<d, a_major, b_major>(p, ring, worker, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(multiplying_registers));
    multiply_segments<d, a_major, b_major>(p, ring, worker, rank);
  }
  // No block ends while another of its cluster may still arrive at its barriers.
  if constexpr (d.cluster_n > 1) cluster_sync();
#endif
}

}  // namespace fathom::gemm::fp64
