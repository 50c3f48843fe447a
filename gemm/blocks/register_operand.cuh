#pragma once

#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The first operand by way of registers: for 32-bit elements that are contiguous along the outer
// dimension, which wgmma does not read from shared memory. The tile's blocks of 64 x 32 are two
// boxes each, of 32 lines of k with 32 elements of the outer dimension.

namespace fathom::gemm {

/// A thread's elements of one stage: 4 steps of 8 of k. As wgmma has it, element 0 of a step is row
/// lane / 4 of the warp's 16 at k lane % 4; 1 is 8 rows on, 2 and 3 are 4 of k on (PTX ISA, the
/// fragment of A for tf32).
struct StageFragment {
  std::uint32_t of[4][4];
};

/// Which of a block's 64 rows stands for row lane / 4 + 8 `upper` of the warp. Not the one of that
/// number: the rows of a load are two runs of 4, 16 apart, so that with the swizzle its 32 lanes, 4
/// lines of k, lie in 32 banks.
__device__ inline int row_in_block(int warp, int lane, int upper) {
  return warp / 2 * 32 + lane / 16 * 16 + warp % 2 * 8 + upper * 4 + lane / 4 % 4;
}

__device__ inline void load_fragment(StageFragment& fragment, std::uint32_t block, int warp,
                                     int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = row_in_block(warp, lane, i % 2), line = lane % 4 + i / 2 * 4;
    const int word = row % half_block_side / 4 ^ line;
    const std::uint32_t address =
        block + row / half_block_side * half_block_bytes + line * 128 + word * 16 + row % 4 * 4;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      // Eight lines on, the swizzle is the same.
      asm volatile("ld.shared.b32 %0, [%1];"
                   : "=r"(fragment.of[step][i])
                   : "r"(address + step * 8 * 128)
                   : "memory");
    }
  }
}

/// As `accumulate`, with the first operand from registers. A warpgroup's loads stand between its
/// products, under those of the other warpgroup: the compiler keeps no products under way whose
/// registers are being loaded. When a stage is released its loads are done, since the products that
/// took them are.
template <class In, Design d>
__device__ inline void accumulate_from_registers(const TileRing<d>& ring,
                                                 RingPosition<d.stages>& position, int steps,
                                                 int a_block, const ClusterPlace<d>& place,
                                                 Sums<d>& sums) {
  static_assert(sizeof(In) == 4 && d.m_blocks == 1);
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
    StageFragment fragment;
    load_fragment(fragment, ring.a(position.stage) + a_block * block_bytes, warp, lane);
    const std::uint64_t b = tile_descriptor<Major::k>(ring.b(position.stage));
    products_begin();
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(In{}, sums.of[0], fragment.of[s], b + s * step_units<Major::k>, step > 0 || s > 0);
    products_commit();
    products_wait<0>();
    release(ring, position.stage, place);
    position.advance();
  }
  sums_are_ready(sums.of[0]);
}

/// Stores a warp's sums straight from the registers, with the rows that `row_in_block` says; `row`
/// is the block's first.
template <class Out, class Scalar, int Count>
__device__ inline void store_permuted(const TiledProduct<Out, Scalar>& p,
                                      const std::uint32_t (&sums)[Count], int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const int r = row + row_in_block(warp, lane, i % 4 / 2),
              c = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (r < p.m && c < p.n) p.c(r, c) = Out(finished(p, r, c, sum_of<Scalar>(sums[i])));
  }
}

}  // namespace fathom::gemm
