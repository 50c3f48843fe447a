#pragma once

namespace fathom::gemm {

/// Where this thread's lane lies in its warp, 32 lanes as LanesM x (32 / LanesM).
///
/// The lanes are numbered so that lanes i and i ^ 1 have the same row and lanes i and i ^ 2 the
/// same column: either condition lets a 16-byte shared load be served in two wavefronts instead of
/// four (claims S4 and S5, measured by the probe bank_conflicts).
template <int LanesM>
struct LanePlace {
  static constexpr int lanes_n = 32 / LanesM;
  int m = 0, n = 0;

  __device__ LanePlace() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Bit 0 belongs to the column, bit 1 to the row, and so on until one of them is full.
    int bit = 0, m_bit = 1, n_bit = 1;
    while (m_bit < LanesM || n_bit < lanes_n) {
      if (n_bit < lanes_n) {
        n |= (lane >> bit++ & 1) * n_bit;
        n_bit *= 2;
      }
      if (m_bit < LanesM) {
        m |= (lane >> bit++ & 1) * m_bit;
        m_bit *= 2;
      }
    }
  }
};

/// Where a thread's TM x TN elements of a block's tile lie. A warp has a tile of its own, its lanes
/// in the order of LanePlace; a thread's rows come in groups of 4 that are 4 LanesM apart, its
/// columns likewise, so that lanes read fragments from neighbouring 16-byte words.
template <int BM, int BN, int TM, int TN, int WarpsM, int WarpsN, int LanesM>
struct ThreadTile {
  static constexpr int lanes_n = 32 / LanesM;
  static constexpr int warp_m = BM / WarpsM, warp_n = BN / WarpsN;
  static constexpr int threads = 32 * WarpsM * WarpsN;
  static_assert(TM * LanesM == warp_m && TN * lanes_n == warp_n && TM % 4 == 0 && TN % 4 == 0);

  int row, column;  ///< of its first element, within the block's tile

  __device__ ThreadTile() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const LanePlace<LanesM> lane;
    row = warp % WarpsM * warp_m + lane.m * 4;
    column = warp / WarpsM * warp_n + lane.n * 4;
  }

  static __device__ constexpr int row_of(int i) { return i / 4 * (4 * LanesM) + i % 4; }
  static __device__ constexpr int column_of(int j) { return j / 4 * (4 * lanes_n) + j % 4; }

  /// A thread's part of one k of both tiles, each a line of floats in shared memory.
  struct Fragment {
    float a[TM], b[TN];

    __device__ void load(const float* line_a, const float* line_b) {
#pragma unroll
      for (int i = 0; i < TM; i += 4) load4(a + i, line_a + row_of(i));
#pragma unroll
      for (int j = 0; j < TN; j += 4) load4(b + j, line_b + column_of(j));
    }

   private:
    static __device__ void load4(float* to, const float* from) {
      const float4 x = *reinterpret_cast<const float4*>(from);
      to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    }
  };

  /// Sums of the thread's elements.
  struct Sums {
    float c[TM][TN] = {};

    /// Row by row, alternately forth and back: the element of B at a turn is used twice in a row,
    /// and the operand cache of the register file saves one read.
    __device__ void add(const Fragment& f) {
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
          const int turned = i % 2 == 0 ? j : TN - 1 - j;
          c[i][turned] = fmaf(f.a[i], f.b[turned], c[i][turned]);
        }
      }
    }
  };
};

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

}  // namespace fathom::gemm
