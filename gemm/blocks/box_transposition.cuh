#pragma once

#include <cstdint>

#include "gemm/blocks/box_transposition.h"
#include "gemm/blocks/mma_sync.cuh"

namespace fathom::gemm {

/// By a warp: transposes `Rows` rows of the box at `box` from `row` on into lines of `Pitch` floats
/// at `lines`.
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
