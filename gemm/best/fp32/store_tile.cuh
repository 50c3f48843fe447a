#pragma once

#include "gemm/blocks/epilogue.cuh"

namespace fathom::gemm::fp32 {

/// Stores a thread's sums: rows and columns from `first_row` and `first_column` of C on; those
/// before belong to another tile. `store(row, column, sums)` takes four columns, or one.
template <class Tile, class Sums, class Store4, class Store1>
__device__ void store_tile(const Sums& sums, int row, int column, int first_row, int first_column,
                           bool vectors, Store4 store4, Store1 store1) {
  using Threads = typename Tile::Threads;
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
    const int r = row + Threads::row_of(i);
    if (r < first_row) continue;
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4) {
      const int c = column + Threads::column_of(j);
      if (vectors) {
        if (c >= first_column) store4(r, c, &sums.c[i][j]);
        continue;
      }
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        if (c + x >= first_column) store1(r, c + x, sums.c[i][j + x]);
      }
    }
  }
}

}  // namespace fathom::gemm::fp32
