#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gemm/blocks/mma_sync.cuh"

// How a warp transposes a box of rows of 32 floats within shared memory, four rows at once.
//
// ldmatrix moves rows of 16 bytes: told that four rows of the box are four matrices of 8 x 8
// elements of 16 bits, it gives lane l float l of each, in four registers that follow each other.
// Those are four neighbours in a line of the transposed box, for one 16-byte store: two
// instructions for 128 floats, and no register is moved.
//
// No access conflicts (tests/unit/gemm_work_test.cpp): a load takes 512 contiguous bytes;
// the eight lanes of a store go to lines 16 bytes more than a multiple of 128 apart.

namespace fathom::gemm {

inline constexpr int transposed_box_depth = 32;  ///< floats of a row: one for each lane
inline constexpr int rows_transposed_at_once = 4;
/// Floats between the lines of a transposed box whose rows are a multiple of 32.
inline constexpr int transposed_line_pad = 4;

/// Where the lane has ldmatrix read for the four rows from `row` on, in bytes from the box's start.
__host__ __device__ constexpr int box_row_offset(int lane, int row) {
  return row * (transposed_box_depth * 4) + lane * 16;
}

/// Where the lane stores them, in bytes from the transposed box's start, lines of `pitch` floats.
__host__ __device__ constexpr int transposed_offset(int lane, int row, int pitch) {
  return (lane * pitch + row) * 4;
}

/// By a warp: transposes `Rows` of the box's rows from `row` on into lines of `Pitch` floats.
template <int Rows, int Pitch>
__device__ inline void transpose_rows(std::uint32_t box, std::uint32_t lines, int lane, int row) {
  // Loads in flight at once: four registers each, of a thread that has few.
  constexpr int at_once = 4, step = rows_transposed_at_once;
  static_assert(Rows % (at_once * step) == 0 && Pitch % 32 == transposed_line_pad);
  const std::uint32_t from = box + box_row_offset(lane, row),
                      to = lines + transposed_offset(lane, row, Pitch);
#pragma unroll
  for (int r = 0; r < Rows; r += at_once * step) {
    std::uint32_t x[at_once][4];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      load_matrices<false>(x[i], from + box_row_offset(0, r + i * step));
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(
                       to + transposed_offset(0, r + i * step, Pitch)),
                   "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3])
                   : "memory");
    }
  }
}

}  // namespace fathom::gemm
