#pragma once

#include "gemm/blocks/tile_order.cuh"
#include "gemm/fp64/design.cuh"

// Which part of the product a worker (a cluster of blocks) does. The first `stream_tiles` tiles are
// cut along k into as many equal shares as there are workers (stream-K: Osama, Merrill, Cecka,
// Garland and Owens, "Stream-K: work-centric parallel decomposition for dense matrix-matrix
// multiplication on the GPU", 2023); of the others, each worker takes every so-and-so-many-th.

namespace fathom::gemm::fp64 {

/// Stages `first` to `first + count` of a tile's k.
struct Segment {
  int tile, first, count;
};

/// A worker's segments: of its share, the end of a tile that another began, whole tiles and the
/// beginning of a tile; then the other tiles. Who begins a tile adds up and stores it. Everybody
/// hands over what belongs to another worker's tile before waiting for anything.
class WorkWalk {
 public:
  __device__ WorkWalk(const DmmaProduct& p, int worker)
      : depth_(p.depth),
        step_(share_begin(p, worker)),
        end_(share_begin(p, worker + 1)),
        tile_(p.stream_tiles + worker),
        tiles_(p.tiles_m * p.tiles_n),
        workers_(p.workers) {}

  /// The next segment, or false.
  __device__ bool next(Segment& s) {
    if (step_ < end_) {
      s.tile = static_cast<int>(step_ / depth_);
      s.first = static_cast<int>(step_ - static_cast<long long>(s.tile) * depth_);
      s.count = static_cast<int>(min(static_cast<long long>(depth_ - s.first), end_ - step_));
      step_ += s.count;
      return true;
    }
    if (tile_ >= tiles_) return false;
    s = {tile_, 0, depth_};
    tile_ += workers_;
    return true;
  }

  /// First stage of a worker's share, counted over all shared tiles.
  static __device__ long long share_begin(const DmmaProduct& p, int worker) {
    return static_cast<long long>(p.stream_tiles) * p.depth * worker / p.workers;
  }

 private:
  int depth_;
  long long step_, end_;
  int tile_, tiles_, workers_;
};

/// First row and column of this block's tile.
template <Design d>
__device__ inline TileIndex corner_of(const DmmaProduct& p, int tile, int rank) {
  const TileIndex t = banded_tile<d.band>(tile, p.tiles_m, p.tiles_n);
  return {t.m * d.m(), (t.n * d.cluster_n + rank) * d.n()};
}

}  // namespace fathom::gemm::fp64
