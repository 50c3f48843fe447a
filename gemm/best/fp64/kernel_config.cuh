#pragma once

#include <cuda.h>

#include <cstdint>

#include "gemm/bench/problem.h"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/operands.cuh"

// How the kernels whose operands come by TMA cut a product in fp64, what they are told of it, and
// which part of it a worker (a cluster of blocks) does. The first `stream_tiles` tiles are cut
// along k into as many equal shares as there are workers (stream-K: Osama, Merrill, Cecka, Garland
// and Owens, "Stream-K: work-centric parallel decomposition for dense matrix-matrix multiplication
// on the GPU", 2023); the rest are assigned round-robin.

namespace fathom::gemm::fp64 {

/// k of a stage: lines of 128 bytes.
inline constexpr int stage_depth = 16;
inline constexpr int line_bytes = 128;

/// A block's tile of C (m x n) = A (m x k) B (k x n), as BLAS has it, and how blocks go from tile
/// to tile.
struct KernelConfig {
  int warps_m = 2, warps_n = 4;    ///< of the warps that multiply
  int m_blocks = 4, n_blocks = 4;  ///< of 16 rows and of 8 columns, of each
  int stages = 6;
  int cluster_n = 1;  ///< blocks of a cluster beside each other: they load each tile of A once
  int band = 8;       ///< tile rows that are gone through column by column
  /// Reads of fragments, and so the products behind them, wait for no product that has only just
  /// begun (accumulate_late).
  bool late_reads = false;

  __host__ __device__ constexpr int m() const { return 16 * m_blocks * warps_m; }
  __host__ __device__ constexpr int n() const { return 8 * n_blocks * warps_n; }
  __host__ __device__ constexpr int warps() const { return warps_m * warps_n; }
  /// A warpgroup more, of which one thread loads: registers are given out by warpgroups.
  __host__ __device__ constexpr int threads() const { return 32 * warps() + 128; }
  __host__ __device__ constexpr int a_bytes() const { return m() * line_bytes; }
  __host__ __device__ constexpr int stage_bytes() const { return (m() + n()) * line_bytes; }
  /// With the barriers, and room to start on 1024 bytes.
  __host__ __device__ constexpr int shared_bytes() const {
    return 1024 + stages * (stage_bytes() + 16);
  }
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

/// Where a thread is, read anew: what follows from it would otherwise be kept, over the loop in
/// which the sums have all registers.
__device__ inline int reload_thread_id() {
  int x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  return x;
}
__device__ inline int reload_block_id() {
  int x;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
  return x;
}

/// Stages `first` to `first + count` of a tile's k.
struct Segment {
  int tile, first, count;
};

/// A worker's segments: of its share, the end of a tile that another began, whole tiles and the
/// beginning of a tile; then the other tiles. Who begins a tile adds up and stores it. Everybody
/// hands over what belongs to another worker's tile before waiting for anything.
class TileScheduler {
 public:
  __device__ TileScheduler(const DmmaProduct& p, int worker) {
    const long long begin = share_begin(p, worker);
    left_ = static_cast<int>(share_begin(p, worker + 1) - begin);
    tile_ = left_ == 0 ? p.stream_tiles + worker : static_cast<int>(begin / p.depth);
    first_ = left_ == 0 ? 0 : static_cast<int>(begin % p.depth);
  }

  /// The next segment, or false.
  __device__ bool next(const DmmaProduct& p, int worker, Segment& s) {
    if (left_ == 0) {
      if (tile_ >= p.tiles_m * p.tiles_n) return false;
      s = {tile_, 0, p.depth};
      tile_ += p.workers;
      return true;
    }
    s = {tile_, first_, min(p.depth - first_, left_)};
    left_ -= s.count;
    tile_ = left_ == 0 ? p.stream_tiles + worker : tile_ + 1;
    first_ = 0;
    return true;
  }

  /// First stage of a worker's share, counted over all shared tiles.
  static __device__ long long share_begin(const DmmaProduct& p, int worker) {
    return static_cast<long long>(p.stream_tiles) * p.depth * worker / p.workers;
  }

 private:
  int tile_, first_;  ///< of the next segment
  int left_;          ///< stages of the share that are left
};

/// First row and column of this block's tile.
template <KernelConfig d>
__device__ inline TileIndex corner_of(const DmmaProduct& p, int tile, int rank) {
  const TileIndex t = banded_tile<d.band>(tile, p.tiles_m, p.tiles_n);
  return {t.m * d.m(), (t.n * d.cluster_n + rank) * d.n()};
}

}  // namespace fathom::gemm::fp64
