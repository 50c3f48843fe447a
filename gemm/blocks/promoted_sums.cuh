#pragma once

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/tile_ring.cuh"

// Sums of 8-bit floating point that keep fp32's bits.

namespace fathom::gemm {

/// Turns of two warpgroups, told apart by their first block of A, 0 or 1: each has a hardware
/// barrier that both their threads must come to.
inline constexpr int first_ping_pong_barrier = 2, ping_pong_threads = 256;
__device__ inline void ping_pong_wait(int a_block) {
  named_barrier(first_ping_pong_barrier + a_block, ping_pong_threads);
}
__device__ inline void ping_pong_arrive(int a_block) {
  named_arrive(first_ping_pong_barrier + (1 - a_block), ping_pong_threads);
}

/// Whether the warpgroups take turns. A thread of a wide tile has registers for one stage's sums
/// beside those of all; of a narrow one for two, and adds those of one while the next multiplies.
template <KernelConfig d>
inline constexpr bool takes_turns = d.promoted&& d.n > 128;

/// Sums of 64 rows by these columns, of one stage.
template <int Columns>
struct StageSums : Sums<WgmmaConfig{.n = Columns}> {
  __device__ StageSums() { start(*this); }

  __device__ void add_to(std::uint32_t* all) {
    auto& own = this->of[0];
    fence_accumulators(own);
#pragma unroll
    for (int j = 0; j < Columns / 2; ++j)
      all[j] = __float_as_uint(__uint_as_float(all[j]) + __uint_as_float(own[j]));
  }
};

/// The two warpgroups take turns: one's products go on while the other adds. Left alone they get in
/// step, since the tensor cores serve both alike: then both add, and the tensor cores wait. A turn
/// is handed over half way, since the other needs a while to begin.
template <class In, KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate_in_turns(const TileRing<d>& ring,
                                           RingPosition<d.stages>& position, int steps, int a_block,
                                           const ClusterPlace<d>& place, Sums<d>& sums) {
  constexpr int columns = 128, parts = d.n / columns;
  static_assert(parts * columns == d.n);
  StageSums<columns> part_sums;
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      ping_pong_wait(a_block);
      multiply_stage<In, a_major, b_major, 2>(ring, position.stage, a_block, part_sums, false,
                                              part * columns);
      wgmma_wait_group<1>();
      ping_pong_arrive(a_block);
      wgmma_wait_group<0>();
      if (part == parts - 1) release(ring, position.stage, place);
      part_sums.add_to(sums.of[0] + part * columns / 2);
    }
    position.advance();
  }
}

/// With two stages' sums: those of one are added under the products of the next.
template <class In, KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate_alternately(const TileRing<d>& ring,
                                              RingPosition<d.stages>& position, int steps,
                                              int a_block, const ClusterPlace<d>& place,
                                              Sums<d>& sums) {
  StageSums<d.n> even, odd;
  const auto multiply_next = [&](StageSums<d.n>& stage_sums) {
    wait(ring.full(position.stage), position.parity);
    multiply_stage<In, a_major, b_major>(ring, position.stage, a_block, stage_sums, false);
  };
  const auto advance = [&](StageSums<d.n>& before, StageSums<d.n>& next) {
    const int done = position.stage;
    position.advance();
    multiply_next(next);
    wgmma_wait_group<1>();
    release(ring, done, place);
    before.add_to(sums.of[0]);
  };
  const auto finish = [&](StageSums<d.n>& last) {
    wgmma_wait_group<0>();
    release(ring, position.stage, place);
    position.advance();
    last.add_to(sums.of[0]);
  };
  if (steps == 0) return;
  multiply_next(even);
  int left = steps - 1;
  for (; left > 1; left -= 2) {
    advance(even, odd);
    advance(odd, even);
  }
  if (left == 1) {
    advance(even, odd);
    finish(odd);
  } else {
    finish(even);
  }
}

/// As `accumulate`, with each stage's sums of its own, added up in fp32 by the threads: the tensor
/// cores keep fewer bits of fp8 products that they accumulate. A stage is 128 of k then.
template <class In, KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate_promoted(const TileRing<d>& ring,
                                           RingPosition<d.stages>& position, int steps, int a_block,
                                           const ClusterPlace<d>& place, Sums<d>& sums) {
  static_assert(d.consumers == 2);
#pragma unroll
  for (std::uint32_t& sum : sums.of[0]) sum = 0;
  if constexpr (takes_turns<d>) {
    accumulate_in_turns<In, d, a_major, b_major>(ring, position, steps, a_block, place, sums);
  } else {
    accumulate_alternately<In, d, a_major, b_major>(ring, position, steps, a_block, place, sums);
  }
}

}  // namespace fathom::gemm
