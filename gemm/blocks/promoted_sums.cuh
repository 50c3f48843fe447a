#pragma once

#include "gemm/blocks/named_barrier.cuh"
#include "gemm/blocks/tile_ring.cuh"

// Sums of 8-bit floating point that keep fp32's bits.

namespace fathom::gemm {

/// Turns of two warpgroups, told apart by their first block of A, 0 or 1: each has a hardware
/// barrier that both their threads must come to.
inline constexpr int first_turn_barrier = 2, turn_threads = 256;
__device__ inline void take_turn(int a_block) {
  named_barrier(first_turn_barrier + a_block, turn_threads);
}
__device__ inline void pass_turn(int a_block) {
  named_arrive(first_turn_barrier + (1 - a_block), turn_threads);
}

/// As `accumulate`, with each stage's sums of its own, added up in fp32 by the threads: the tensor
/// cores keep fewer bits of fp8 products that they accumulate. A stage is 128 of k then. The
/// registers hold such sums of 128 columns at a time beside those of all.
///
/// The two warpgroups take turns: one's products go on while the other adds. Left alone they get in
/// step, since the tensor cores serve both alike: then both add, and the tensor cores wait. A turn
/// is handed over half way, since the other needs a while to begin.
template <class In, Design d, Major a_major, Major b_major>
__device__ inline void accumulate_promoted(const TileRing<d>& ring,
                                           RingPosition<d.stages>& position, int steps, int a_block,
                                           const ClusterPlace<d>& place, Sums<d>& sums) {
  static_assert(d.m_blocks == 1 && d.consumers == 2);
  constexpr int columns = d.n < 128 ? d.n : 128, parts = d.n / columns;
  static_assert(parts * columns == d.n);
  std::uint32_t part_sums[columns / 2];
#pragma unroll
  for (std::uint32_t& sum : part_sums) sum = 0;
  sums_are_ready(part_sums);
#pragma unroll
  for (std::uint32_t& sum : sums.of[0]) sum = 0;
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
    const std::uint64_t a =
        tile_descriptor<a_major>(ring.a(position.stage) + a_block * block_bytes);
    const std::uint64_t b = tile_descriptor<b_major>(ring.b(position.stage));
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      take_turn(a_block);
      products_begin();
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        if (s == 2) products_commit();
        multiply<a_major, b_major>(
            In{}, part_sums, a + s * step_units<a_major>,
            b + part * columns / block_side * (block_bytes >> 4) + s * step_units<b_major>, s > 0);
      }
      products_commit();
      products_wait<1>();
      pass_turn(a_block);
      products_wait<0>();
      if (part == parts - 1) release(ring, position.stage, place);
      sums_are_ready(part_sums);
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
