#pragma once

#include "gemm/blocks/register_operand.cuh"
#include "gemm/blocks/warp_tile.cuh"

// How the sums of a warpgroup get to C whose first operand came through registers: a block of 64
// rows, in the order of row_in_block (gemm/blocks/register_operand.cuh).

namespace fathom::gemm {

/// Which elements of C a thread stores at once: neighbours in memory of two rows or of two columns.
enum class StoredPairs { none, rows, columns };

/// Stores a warp's sums of a block, in few instructions, since nothing is multiplied meanwhile. In
/// pairs the block must be inside C. Where `adds` is false, beta is 0 and C is not read.
template <Major major, StoredPairs pairs, bool adds, int Count>
__device__ inline void store_block_as(const TiledProduct<float, float>& p,
                                      const std::uint32_t (&sums)[Count], int first_row,
                                      int first_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int row = first_row + row_in_block<major>(warp, lane, 0),
            other_row = first_row + row_in_block<major>(warp, lane, 1);
  int column = first_column + lane % 4 * 2;
  const std::int64_t next_row = (other_row - row) * p.c.row_stride, next_column = p.c.column_stride;
  float* c = &p.c(row, column);
  // A thread's four elements of every 8 columns: two columns of one row, then of the other.
#pragma unroll
  for (int i = 0; i < Count; i += 4, c += 8 * next_column, column += 8) {
    float* const of[4] = {c, c + next_column, c + next_row, c + next_row + next_column};
    float x[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = p.alpha * sum_of<float>(sums[i + j]);
    if constexpr (pairs == StoredPairs::none) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if ((j < 2 ? row : other_row) < p.m && column + j % 2 < p.n) {
          if constexpr (adds) x[j] += p.beta * *of[j];
          *of[j] = x[j];
        }
      }
    } else {
      constexpr int second = pairs == StoredPairs::rows ? 2 : 1, next = 3 - second;
#pragma unroll
      for (int j = 0; j <= next; j += next) {
        auto* const pair = reinterpret_cast<float2*>(of[j]);
        if constexpr (adds) {
          const float2 old = *pair;
          x[j] += p.beta * old.x;
          x[j + second] += p.beta * old.y;
        }
        *pair = make_float2(x[j], x[j + second]);
      }
    }
  }
}

/// Stores a warp's sums of a block, for any C. Where C and its lines start and end on 16 bytes, two
/// neighbours in memory go at once, if a thread has them.
template <Major major, int Count>
__device__ inline void store_block(const TiledProduct<float, float>& p,
                                   const std::uint32_t (&sums)[Count], int first_row,
                                   int first_column) {
  const auto store = [&]<StoredPairs pairs>() {
    if (p.beta == 0) {
      store_block_as<major, pairs, false>(p, sums, first_row, first_column);
    } else {
      store_block_as<major, pairs, true>(p, sums, first_row, first_column);
    }
  };
  const bool inside = first_row + block_side <= p.m && first_column + Count * 2 <= p.n;
  if (inside && major == Major::outer && p.tma_stores && p.c.row_stride == 1) {
    store.template operator()<StoredPairs::rows>();
  } else if (inside && p.tma_stores && p.c.column_stride == 1) {
    store.template operator()<StoredPairs::columns>();
  } else {
    store.template operator()<StoredPairs::none>();
  }
}

}  // namespace fathom::gemm
