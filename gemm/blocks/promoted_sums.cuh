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

/// As `accumulate`, with each stage's sums of its own, added up in fp32 by the threads: the tensor
/// cores keep fewer bits of fp8 products that they accumulate. A stage is 128 of k then. The
/// registers hold such sums of 128 columns at a time beside those of all.
///
/// The two warpgroups take turns: one's products go on while the other adds. Left alone they get in
/// step, since the tensor cores serve both alike: then both add, and the tensor cores wait. A turn
/// is handed over half way, since the other needs a while to begin.
template <class In, KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate_promoted(const TileRing<d>& ring,
                                           RingPosition<d.stages>& position, int steps, int a_block,
                                           const ClusterPlace<d>& place, Sums<d>& sums) {
  static_assert(d.consumers == 2);
  constexpr int columns = d.n < 128 ? d.n : 128, parts = d.n / columns;
  static_assert(parts * columns == d.n);
  std::uint32_t part_sums[columns / 2];
#pragma unroll
  for (std::uint32_t& sum : part_sums) sum = 0;
  fence_accumulators(part_sums);
#pragma unroll
  for (std::uint32_t& sum : sums.of[0]) sum = 0;
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
    const std::uint64_t a =
        tile_descriptor<a_major>(ring.a(position.stage) + a_block * block_bytes);
    const std::uint64_t b = tile_descriptor<b_major>(ring.b(position.stage));
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      ping_pong_wait(a_block);
      wgmma_fence();
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        if (s == 2) wgmma_commit_group();
        multiply<a_major, b_major>(
            In{}, part_sums, a + s * step_units<a_major>,
            b + part * columns / block_side * (block_bytes >> 4) + s * step_units<b_major>, s > 0);
      }
      wgmma_commit_group();
      wgmma_wait_group<1>();
      ping_pong_arrive(a_block);
      wgmma_wait_group<0>();
      if (part == parts - 1) release(ring, position.stage, place);
      fence_accumulators(part_sums);
#pragma unroll
      for (int j = 0; j < columns / 2; ++j) {
        std::uint32_t& sum = sums.of[0][part * columns / 2 + j];
        sum = __float_as_uint(__uint_as_float(sum) + __uint_as_float(part_sums[j]));
      }
    }
    position.advance();
  }
}

}  // namespace fathom::gemm
