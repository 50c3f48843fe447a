#pragma once

#include <cuda.h>

#include <cstdint>

#include "gemm/blocks/dmma.cuh"
#include "gemm/blocks/tma.cuh"

// A tile of fp64 by TMA: the kernel's arguments, the ring, and how a warp sums and stores its part.

namespace fathom::gemm::fp64 {

/// A block's tile of C (m x n) = A (m x k) B (k x n), as BLAS has it, and the order of tiles.
struct KernelConfig {
  int warps_m = 2, warps_n = 4;    ///< of the warps that multiply
  int m_blocks = 4, n_blocks = 4;  ///< of 16 rows and of 8 columns, of each
  int stages = 6;
  int cluster_n = 1;  ///< blocks of a cluster beside each other: they load each tile of A once
  int band = 8;       ///< tile rows that are gone through column by column

  __host__ __device__ constexpr int m() const { return 16 * m_blocks * warps_m; }
  __host__ __device__ constexpr int n() const { return 8 * n_blocks * warps_n; }
  __host__ __device__ constexpr int warps() const { return warps_m * warps_n; }
  /// A warpgroup more, of which one thread loads: registers are given out by warpgroups.
  __host__ __device__ constexpr int threads() const { return 32 * warps() + 128; }
  __host__ __device__ constexpr int a_bytes() const { return m() * line_bytes; }
  __host__ __device__ constexpr int stage_bytes() const { return (m() + n()) * line_bytes; }
  /// That release a stage to each block that loads it.
  __host__ __device__ constexpr int reading_warps() const { return warps() * cluster_n; }
};

/// An operand as TMA finds it. TMA reads from where 16 bytes start. Where a line
/// (a column of the matrix in memory) does not, which for 8-byte elements is every other line, the
/// odd ones are copied to the workspace first, and have a map of their own: `split`.
struct OperandMaps {
  CUtensorMap of[2];
  bool split;
};

struct DmmaProduct {
  OperandMaps a, b;
  int m, n, depth;       ///< depth in stages
  int tiles_m, tiles_n;  ///< of a cluster
  int workers;           ///< clusters that are launched
  int stream_tiles;      ///< the first so many tiles are shared along k
  double alpha, beta;
  Matrix<double> c;
  bool vectors;      ///< every column of C starts on 16 bytes, and is contiguous
  double* partials;  ///< of each block, a tile of sums
  unsigned* ready;   ///< of each warp of each block: whether they are there; 0 at first
};

/// Where a thread is, read anew: else what follows from it would take registers all along the loop.
__device__ inline int reload_thread_id() {
  int x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  return x;
}

/// First row and column of this block's tile.
template <KernelConfig d>
__device__ inline TileIndex corner_of(const DmmaProduct& p, int tile, int rank) {
  const TileIndex t = banded_tile<d.band>(tile, p.tiles_m, p.tiles_n);
  return {t.m * d.m(), (t.n * d.cluster_n + rank) * d.n()};
}

// The ring of stages in shared memory that TMA fills. A stage of an operand is, along
// k, a line of 16 k for each row of its tile, or else, along the outer dimension, a block of 2 KiB
// for every 16 of it: 16 lines of k. Word w (16 bytes) of line l lies at w ^ (l % 8).
//
// Either way it comes in two halves: lines of the tile's first half and of its second, or of a
// split operand the even lines and the odd ones.

/// Tells every block that loads for this warp's that the warp has read the stage.
template <KernelConfig d>
__device__ inline void release(const TileRing<d>& ring, int stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (d.cluster_n == 1) {
    if (lane == 0) arrive(ring.empty(stage));
  } else {
    if (lane < d.cluster_n) arrive_at(ring.empty(stage), lane);
  }
}

/// Lines of a box, of a tile of so many rows.
template <Major major>
__host__ __device__ constexpr int box_lines(int rows) {
  return major == Major::k ? rows / 2 : stage_depth / 2;
}

/// Loads half of `Rows` x 16 of k: to this block or, if not 0, to `blocks` of the cluster.
template <Major major, int Rows>
__device__ inline void load_half(std::uint32_t target, const OperandMaps& maps, int half, int outer,
                                 int k, std::uint32_t barrier, std::uint16_t blocks) {
  const CUtensorMap& map = maps.of[maps.split ? half : 0];
  const auto load = [&](std::uint32_t to, int x, int y) {
    if (blocks == 0) {
      load_box(to, map, x, y, barrier);
    } else {
      load_box_multicast(to, map, x, y, barrier, blocks);
    }
  };
  constexpr int lines = box_lines<major>(Rows);
  if constexpr (major == Major::k) {
    load(target + half * lines * line_bytes, k, maps.split ? outer / 2 : outer + half * lines);
  } else {
#pragma unroll
    for (int block = 0; block < Rows / 16; ++block) {
      load(target + (block * stage_depth + half * lines) * line_bytes, outer + block * 16,
           maps.split ? k / 2 : k + half * lines);
    }
  }
}

/// Fills a stage from row `row` of A and column `column` of B.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void load_stage(const DmmaProduct& p, const TileRing<d>& ring, int stage,
                                  int rank, int row, int column, int k) {
  const std::uint32_t full = ring.full(stage);
  arrive_expect_tx(full, d.stage_bytes());
  load_half<b_major, d.n()>(ring.b(stage), p.b, 0, column, k, full, 0);
  load_half<b_major, d.n()>(ring.b(stage), p.b, 1, column, k, full, 0);
  if constexpr (d.cluster_n == 1) {
    load_half<a_major, d.m()>(ring.a(stage), p.a, 0, row, k, full, 0);
    load_half<a_major, d.m()>(ring.a(stage), p.a, 1, row, k, full, 0);
  } else {
    static_assert(d.cluster_n == 2, "each block loads one half of A's tile");
    load_half<a_major, d.m()>(ring.a(stage), p.a, rank, row, k, full, 3);
  }
}

/// A warp's sums.
template <KernelConfig d>
struct WarpSums {
  double of[d.m_blocks][d.n_blocks][4];

  __device__ void clear() {
#pragma unroll
    for (auto& row : of) {
#pragma unroll
      for (auto& block : row) {
#pragma unroll
        for (double& x : block) x = 0;
      }
    }
  }
};

/// A warp's place and what it reads.
template <KernelConfig d, Major a_major, Major b_major>
struct WarpPlace {
  static_assert(d.n_blocks % 2 == 0,
                "along the outer dimension, 16 columns are a block of shared memory");
  static constexpr bool paired = a_major == Major::outer && b_major == Major::k;
  LaneOfA<a_major, paired> a;
  LaneOfB<b_major, paired> b;

  __device__ WarpPlace(bool a_split, bool b_split) : a(row(), a_split), b(column(), b_split) {}

  /// The place of its tile within the block's.
  static __device__ int row() { return reload_thread_id() / 32 % d.warps_m * d.m_blocks * 16; }
  static __device__ int column() { return reload_thread_id() / 32 / d.warps_m * d.n_blocks * 8; }
};

/// Calls `use` with First to End - 1 as constants.
template <int First, int End, class Use>
__device__ inline void each(const Use& use) {
  if constexpr (First < End) {
    use.template operator()<First>();
    each<First + 1, End>(use);
  }
}

/// Stores a warp's sums; `corner` is that of the block's tile.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void store(const DmmaProduct& p, const WarpSums<d>& sums, TileIndex corner) {
  using Place = WarpPlace<d, a_major, b_major>;
  const int lane = reload_thread_id() % 32;
  // Where A lies along m a lane has neighbouring rows, else rows eight apart.
  constexpr int row_of_lane = a_major == Major::outer ? 2 : 1,
                next_row = a_major == Major::outer ? 1 : 8;
  const int first_row = Place::row() + lane / 4 * row_of_lane,
            first_column = Place::column() + lane % 4 * 2;
  const bool a_split = a_major == Major::k && p.a.split, b_split = b_major == Major::k && p.b.split;
  if (a_major == Major::outer && !b_split && p.vectors && p.beta == 0 && corner.m + d.m() <= p.m &&
      corner.n + d.n() <= p.n) {
    double* column = &p.c(corner.m + first_row, corner.n + first_column);
#pragma unroll
    for (int j = 0; j < d.n_blocks; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
#pragma unroll
        for (int i = 0; i < d.m_blocks; ++i) {
          *reinterpret_cast<double2*>(column + i * 16) =
              make_double2(p.alpha * sums.of[i][j][e], p.alpha * sums.of[i][j][2 + e]);
        }
        column += e == 0 ? p.c.column_stride : 7 * p.c.column_stride;
      }
    }
    return;
  }
  // By constants, not a loop: the compiler rolls that up, and the sums would go to memory for it.
  each<0, 2 * d.n_blocks>([&]<int Index> {
    constexpr int j = Index / 2, e = Index % 2;
    const int column = corner.n + place_of_line<d.n()>(first_column + j * 8 + e, b_split);
    if (column >= p.n) return;
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int line = first_row + i * 16 + half * next_row;
        const int row = corner.m + place_of_line<d.m()>(line, a_split);
        if (row >= p.m) continue;
        double& c = p.c(row, column);
        const double scaled = p.alpha * sums.of[i][j][2 * half + e];
        c = p.beta == 0 ? scaled : fma(p.beta, c, scaled);
      }
    }
  });
}

}  // namespace fathom::gemm::fp64
