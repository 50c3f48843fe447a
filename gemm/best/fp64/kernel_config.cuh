#pragma once

#include "gemm/blocks/dmma_tile.cuh"

// Which part of a product a worker (a cluster of blocks) does. The first `stream_tiles` tiles are
// cut along k into as many equal shares as there are workers (stream-K: Osama, Merrill, Cecka,
// Garland and Owens, "Stream-K: work-centric parallel decomposition for dense matrix-matrix
// multiplication on the GPU", 2023); the rest are assigned round-robin.

namespace fathom::gemm::fp64 {

/// Tiles of 128 x 256 for a cluster, in BLAS's terms.
inline constexpr KernelConfig d{.cluster_n = 2};
static_assert(d.warps() == 8, "the register counts are those of two warpgroups");

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

}  // namespace fathom::gemm::fp64
