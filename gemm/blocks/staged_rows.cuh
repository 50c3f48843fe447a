#pragma once

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"

namespace fathom::gemm {

/// A warp's sums on their way from the tensor cores' fragments to C: 16 rows of `Columns`, in a piece of
/// shared memory of the warp's own.
template <int Columns>
struct StagedRows {
  /// Eight words between the rows: four rows of eight neighbours, as half a warp holds of a fragment, lie
  /// in all banks.
  static constexpr int pitch = Columns + 8;
  static constexpr int floats = 16 * pitch;
  static constexpr int bytes = floats * static_cast<int>(sizeof(float));

  /// Stores them to C from (row, column) on, four neighbours a lane. `vectors`: C's lines start on four
  /// elements. For whole warps, which have written the rows before and may do so again after.
  template <class Out>
  static __device__ void store(const float* staged, const Product<Out, Out, float>& p, int row,
                               int column, bool vectors) {
    constexpr int lanes = Columns / 4;  // of a row
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int own_column = lane % lanes * 4, c = column + own_column;
    __syncwarp();
#pragma unroll
    for (int r = lane / lanes; r < 16; r += 32 / lanes) {
      if (row + r >= p.m) break;
      const float4 x = *reinterpret_cast<const float4*>(staged + r * pitch + own_column);
      const float sums[4] = {x.x, x.y, x.z, x.w};
      if (vectors && c + 4 <= p.n) {
        store_vector(p, row + r, c, sums);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (c + i < p.n) store_element(p, row + r, c + i, sums[i]);
        }
      }
    }
    __syncwarp();
  }
};

}  // namespace fathom::gemm
