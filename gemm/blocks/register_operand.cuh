#pragma once

#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/wgmma.cuh"

// The first operand by way of registers: for 32-bit elements that are contiguous along the outer
// dimension, which wgmma does not read from shared memory, and for operands that the threads do
// something to first. A tile's blocks of 64 rows are one box of 64 lines along k (Major::k), or two
// of 32 lines of k with 32 elements of the outer dimension each (Major::outer).

namespace fathom::gemm {

/// A thread's elements of one stage: 4 steps of 8 of k, each as wgmma has it.
struct StageFragment {
  std::uint32_t of[4][4];
};

/// Which of a block's 64 rows stands for row lane / 4 + 8 `upper` of the warp's 16.
///
/// Contiguous along the outer dimension it is not the one of that number: a thread's two are
/// neighbours, to be loaded at once, and the 16 lanes of half a warp, 4 lines of k with 8 rows each,
/// take of every line two 16-byte words that are 4 apart: with the swizzle, 32 banks.
template <Major major>
__device__ inline int row_in_block(int warp, int lane, int upper) {
  if constexpr (major == Major::k) return warp * 16 + lane / 4 + upper * 8;
  return warp / 2 * 32 + warp % 2 * 8 + lane / 16 * 4 + lane / 8 % 2 * 16 + lane / 4 % 2 * 2 +
         upper;
}

/// Loads it from a block whose box (or first box) starts at `block`.
template <Major major>
__device__ inline void load_fragment(StageFragment& fragment, std::uint32_t block, int warp,
                                     int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (major == Major::k) {
      // A step is two words of a line; the lines of a warp's 8 rows lie in all banks.
      const int row = row_in_block<major>(warp, lane, i % 2);
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        asm volatile("ld.shared.b32 %0, [%1];"
                     : "=r"(fragment.of[step][i])
                     : "r"(block + row * 128 + ((step * 2 + i / 2) ^ row % 8) * 16 + lane % 4 * 4)
                     : "memory");
      }
    } else if (i % 2 == 0) {
      const int row = row_in_block<major>(warp, lane, 0), line = lane % 4 + i / 2 * 4;
      const int word = row % half_block_side / 4 ^ line;
      const std::uint32_t address =
          block + row / half_block_side * half_block_bytes + line * 128 + word * 16 + row % 4 * 4;
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        // Eight lines on, the swizzle is the same.
        asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                     : "=r"(fragment.of[step][i]), "=r"(fragment.of[step][i + 1])
                     : "r"(address + step * 8 * 128)
                     : "memory");
      }
    }
  }
}

}  // namespace fathom::gemm
