#pragma once

#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/tile_ring.cuh"

// Which tiles a cluster computes, and in which order.

namespace fathom::gemm {

/// The tiles of a cluster, one after the other. C is cut into entries, which are gone through in
/// bands; an entry is a cluster's tile, or for the tail kernel as many as make one of the
/// other kernel's.
template <KernelConfig d>
struct TileScheduler {
  int next, step, end;
  bool backwards = false;  ///< through k
  template <class P>
  __device__ explicit TileScheduler(const P& p)
      : next(p.first + static_cast<int>(blockIdx.x) / d.cluster()), step(p.step), end(p.end) {}
  __device__ bool done() const { return next >= end; }
  /// Whether the next tile of this cluster is of another band: what this one's rows had in the L2
  /// is of no more use.
  template <class P>
  __device__ bool leaves_band(const P& p) const {
    const int of_band = d.band * p.tiles_n * d.parent();
    return next + step >= end || (next + step) / of_band != next / of_band;
  }
  __device__ void advance() {
    next += step;
    backwards = d.serpentine && !backwards;
  }
  template <class P>
  __device__ static TileIndex entry_of(const P& p, int entry) {
    // A band of one row is gone through along it: one division instead of three.
    if constexpr (d.band == 1) return {entry / p.tiles_n, entry % p.tiles_n};
    return banded_tile<d.band>(entry, p.tiles_m, p.tiles_n);
  }
  /// First row and column of this block's tile.
  template <class P>
  __device__ TileIndex corner(const P& p, const ClusterPlace<d>& place) const {
    const TileIndex entry = entry_of(p, next / d.parent());
    const int m = entry.m * d.parent_m + next % d.parent_m;
    const int n = entry.n * d.parent_n + next % d.parent() / d.parent_m;
    return {(m * d.cluster_m + place.m) * d.m(), (n * d.cluster_n + place.n) * d.n};
  }
};

}  // namespace fathom::gemm
