#pragma once

#include <cuda_runtime.h>

// How a warp transposes a box of rows of 32 floats within shared memory, four rows at once.
//
// ldmatrix moves rows of 16 bytes: told that four rows of the box are four matrices of 8 x 8
// elements of 16 bits, it gives lane l float l of each, in four registers that follow each other.
// Those are four neighbours in a line of the transposed box, and one 16-byte store takes them: two
// instructions for 128 floats, none of which moves a register. (Loads of 16 bytes along k would
// leave each lane a block of 4 x 4 to transpose, 16 moves for as many floats a lane.)
//
// No access has a bank conflict: the load takes 512 contiguous bytes; the eight lanes that a store
// serves at once go to lines that are 16 bytes more than a multiple of 128 apart
// (tests/unit/gemm_box_transposition_test.cpp).

namespace fathom::gemm {

inline constexpr int transposed_box_depth = 32;  ///< floats of a row: one for each lane
inline constexpr int rows_transposed_at_once = 4;
/// Floats between the lines of a transposed box whose rows are a multiple of 32.
inline constexpr int transposed_line_pad = 4;

/// Where the lane has ldmatrix read for the four rows from `row` on, in bytes from the box's start.
__host__ __device__ constexpr int box_row_offset(int lane, int row) {
  return row * (transposed_box_depth * 4) + lane * 16;
}

/// Where the lane stores what it has of them, in bytes from the transposed box's start; `pitch`
/// floats from line to line.
__host__ __device__ constexpr int transposed_offset(int lane, int row, int pitch) {
  return (lane * pitch + row) * 4;
}

}  // namespace fathom::gemm
