#pragma once

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"

namespace fathom::gemm {

/// A warp's sums on their way from the tensor cores' fragments to C: 16 rows of `Columns`, in a
/// piece of shared memory of the warp's own.
template <int Columns>
struct StagedRows {
  /// Eight words between the rows: four rows of eight neighbours, as half a warp holds of a
  /// fragment, lie in all banks.
  static constexpr int pitch = Columns + 8;
  static constexpr int floats = 16 * pitch;
  static constexpr int bytes = floats * static_cast<int>(sizeof(float));

  /// Stores them to C from (row, column) on, four neighbours a lane: C's lines start on four
  /// elements. For whole warps, which have written the rows before and may do so again after.
  template <class Out>
  static __device__ void store(const float* staged, const Product<Out, Out, float>& p, int row,
                               int column) {
    constexpr int lanes = Columns / 4;  // of a row
    const int lane = static_cast<int>(threadIdx.x) % 32, own_column = lane % lanes * 4;
    __syncwarp();
#pragma unroll
    for (int r = lane / lanes; r < 16; r += 32 / lanes)
      store_vector(p, row + r, column + own_column, staged + r * pitch + own_column);
    __syncwarp();
  }
};

}  // namespace fathom::gemm
