#pragma once

#include <algorithm>

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The warp-specialised product: one warp keeps the copy engine busy, warpgroups multiply, and a
// ring of tiles lies between them. What a design has beside that is in `Design`.

namespace fathom::gemm {

/// Registers of a thread that loads and of one that multiplies: 128 of the first and 256 of the
/// second share what 384 threads of 168 are given (64512 of the 65536).
inline constexpr int loading_registers = 40, multiplying_registers = 232;

/// Dynamic shared memory of a block: the ring on 1024 bytes, the buffers of C, the barriers.
template <Design d>
constexpr int specialised_shared_bytes() {
  const int staging = d.engine_stores ? d.consumers * 4 * staging_slots * staged_bytes : 0;
  return 1024 + TileRing<d>::bytes + staging + TileRing<d>::barrier_bytes;
}

/// The tiles of a cluster, one after the other. C is cut into entries, which are gone through in bands;
/// an entry is a cluster's tile, or for the kernel of the rest as many as make one of the other kernel's.
template <Design d>
struct TileWalk {
  int next, step, end;
  bool backwards = false;  ///< through k
  template <class P>
  __device__ explicit TileWalk(const P& p)
      : next(p.first + static_cast<int>(blockIdx.x) / d.cluster()), step(p.step), end(p.end) {}
  __device__ bool done() const { return next >= end; }
  __device__ void advance() {
    next += step;
    backwards = d.serpentine && !backwards;
  }
  /// First row and column of this block's tile.
  template <class P>
  __device__ TileIndex corner(const P& p, const ClusterPlace<d>& place) const {
    const TileIndex entry = banded_tile<d.band>(next / d.parent(), p.tiles_m, p.tiles_n);
    const int m = entry.m * d.parent_m + next % d.parent_m;
    const int n = entry.n * d.parent_n + next % d.parent() / d.parent_m;
    return {(m * d.cluster_m + place.m) * d.m(), (n * d.cluster_n + place.n) * d.n};
  }
};

/// The stages of k that a block takes: all, or its part of `split_k`.
struct DepthRange {
  int first, count;
};
template <Design d, class P>
__device__ inline DepthRange depth_range(const P& p, const ClusterPlace<d>& place) {
  if constexpr (d.split_k == 1) return {0, p.depth};
  const int first = static_cast<int>(static_cast<long long>(p.depth) * place.k / d.split_k);
  const int end = static_cast<int>(static_cast<long long>(p.depth) * (place.k + 1) / d.split_k);
  return {first, end - first};
}

template <class In, Design d, Major a_major, Major b_major, class P>
__device__ inline void load_tiles(const P& p, const TileRing<d>& ring,
                                  const ClusterPlace<d>& place) {
  prefetch_map(p.map_a);
  prefetch_map(p.map_b);
  RingPosition<d.stages> position;
  const DepthRange range = depth_range<d>(p, place);
  for (TileWalk<d> walk(p); !walk.done(); walk.advance()) {
    const TileIndex corner = walk.corner(p, place);
    for (int i = 0; i < range.count; ++i) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      const int stage = range.first + (walk.backwards ? range.count - 1 - i : i);
      load_stage<d, a_major, b_major>(ring, position.stage, place, p.map_a, p.map_b, corner.m,
                                      corner.n, stage * stage_depth<In>);
      position.advance();
    }
  }
}

/// A warpgroup's tiles: multiplied and, but for a split k, stored.
template <class In, Design d, Major a_major, Major b_major, class P>
__device__ inline void multiply_tiles(const P& p, const TileRing<d>& ring,
                                      const ClusterPlace<d>& place, int warpgroup,
                                      std::uint32_t staging) {
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int a_block = warpgroup * d.m_blocks;
  const DepthRange range = depth_range<d>(p, place);
  RingPosition<d.stages> position;
  Sums<d> sums;
  start(sums);
  for (TileWalk<d> walk(p); !walk.done(); walk.advance()) {
    if constexpr (d.promoted) {
      accumulate_promoted<In, d, a_major, b_major>(ring, position, range.count, a_block, place,
                                                   sums);
    } else {
      accumulate<In, d, a_major, b_major>(ring, position, range.count, a_block, place, sums);
    }
    if constexpr (d.split_k > 1) {
      named_barrier(1, d.consumers * 128);  // both warpgroups have read the ring
#pragma unroll
      for (int i = 0; i < d.m_blocks; ++i)
        keep_partial<d.n>(ring.tiles, sums.of[i], (a_block + i) * 64 + warp * 16, range.count > 0);
      return;
    } else {
      const TileIndex corner = walk.corner(p, place);
#pragma unroll
      for (int i = 0; i < d.m_blocks; ++i) {
        const int row = corner.m + (a_block + i) * 64 + warp * 16;
        finish(p, sums.of[i], row, corner.n);
        if constexpr (d.engine_stores) {
          if (p.engine_stores) {
            store_by_engine<d.passing_c>(p, sums.of[i], row, corner.n, staging);
          } else {
            store_by_rows(p, sums.of[i], row, corner.n, staging);
          }
        } else {
          store_from_registers(p, sums.of[i], row, corner.n);
        }
      }
    }
  }
  if constexpr (d.engine_stores) wait_stores();
}

/// `Config` has the types In, Out and Scalar, the Design `design` and the Majors `a_major` and
/// `b_major`.
template <class Config>
__global__ void __launch_bounds__(Config::design.threads(), Config::design.resident) specialised_product(
    const __grid_constant__ TiledProduct<typename Config::Out, typename Config::Scalar> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using In = typename Config::In;
  constexpr Design d = Config::design;
  constexpr Major a_major = Config::a_major, b_major = Config::b_major;
  extern __shared__ std::byte shared[];
  constexpr bool alone = d.resident == 1;
  static_assert(d.consumers == 2 || !alone, "the register counts are those of two");
  if constexpr (d.leaves_rest) asm volatile("griddepcontrol.launch_dependents;");
  const ClusterPlace<d> place;
  TileRing<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t staging = ring.tiles + TileRing<d>::bytes;
  constexpr int staging_bytes =
      d.engine_stores ? d.consumers * 4 * staging_slots * staged_bytes : 0;
  ring.barriers = staging + staging_bytes;
  if (threadIdx.x == 0) ring.init(4 * d.consumers * d.sharing());
  if constexpr (d.cluster() == 1) {
    __syncthreads();
  } else {
    cluster_sync();
  }

  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    if constexpr (alone) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    if (threadIdx.x % 128 == 0) load_tiles<In, d, a_major, b_major>(p, ring, place);
  } else {
    if constexpr (alone) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(multiplying_registers));
    const int warp = static_cast<int>(threadIdx.x) / 32;
    multiply_tiles<In, d, a_major, b_major>(p, ring, place, group,
                                            staging + warp * staging_slots * staged_bytes);
  }

  // No block ends while another of its cluster may still arrive at its barriers or read its sums.
  if constexpr (d.cluster() > 1) cluster_sync();
  if constexpr (d.split_k > 1) {
    if (group < d.consumers) {
      const TileWalk<d> walk(p);
      if (!walk.done()) store_cluster_sum<d>(p, ring.tiles, place, walk.corner(p, place));
    }
    cluster_sync();
  }
  // What comes after the kernel of the rest waits for it alone: so it ends last.
  if constexpr (d.parent() > 1) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <Design d>
ClusterLaunch specialised_launch(cudaStream_t stream) {
  return {1, d.threads(), specialised_shared_bytes<d>(), d.cluster(), stream};
}

/// Launches a kernel on a product whose maps are made: in a cluster a tile or, if persistent, in as
/// many as the GPU runs at once, each of which goes from tile to tile.
template <auto kernel, Design d, class P>
void launch_walk(P product, ClusterLaunch launch) {
  int clusters = product.end;
  if constexpr (d.persistent) {
    static const int resident = resident_clusters(kernel, launch);
    clusters = std::min(clusters, resident);
  }
  product.step = clusters;
  launch.blocks = clusters * d.cluster();
  launch_cluster(kernel, launch, product);
}

/// The same on all SMs where clusters of more than two leave some: large clusters in one kernel, and
/// beside it on the SMs that they leave small ones, `rest`, whose tiles together make the large one's.
/// Both walk the same entries in step, wave by wave.
template <auto kernel, Design d, auto rest_kernel, Design rest, class P>
void launch_walk_with_rest(P product, ClusterLaunch launch, ClusterLaunch rest_launch) {
  static_assert(d.leaves_rest && d.persistent && rest.persistent);
  static_assert(rest.parent_m * rest.cluster_m * rest.m() == d.cluster_m * d.m() &&
                rest.parent_n * rest.cluster_n * rest.n == d.cluster_n * d.n);
  static const int resident = resident_clusters(kernel, launch);
  /// Entries' worth of small clusters on the SMs that are left.
  static const int rest_entries =
      (resident_clusters(rest_kernel, rest_launch) * rest.cluster() - resident * d.cluster()) /
      (rest.cluster() * rest.parent());
  const int entries = product.tiles_m * product.tiles_n;
  const int clusters = std::min(entries, resident);
  const int rest_clusters = std::min(entries - clusters, rest_entries) * rest.parent();
  product.step = clusters + rest_clusters / rest.parent();
  if (clusters > 0) {
    product.first = 0;
    product.end = entries;
    launch.blocks = clusters * d.cluster();
    launch_cluster(kernel, launch, product);
  }
  if (rest_clusters > 0) {
    product.first = clusters * rest.parent();
    product.step *= rest.parent();
    product.end = entries * rest.parent();
    rest_launch.blocks = rest_clusters * rest.cluster();
    rest_launch.beside_previous = true;
    launch_cluster(rest_kernel, rest_launch, product);
  }
}

template <class Config>
void launch_specialised(const TiledProduct<typename Config::Out, typename Config::Scalar>& product,
                        cudaStream_t stream) {
  constexpr Design d = Config::design;
  launch_walk<&specialised_product<Config>, d>(product, specialised_launch<d>(stream));
}

template <class Config, class Rest>
void launch_with_rest(const TiledProduct<typename Config::Out, typename Config::Scalar>& product,
                      cudaStream_t stream) {
  constexpr Design d = Config::design, rest = Rest::design;
  launch_walk_with_rest<&specialised_product<Config>, d, &specialised_product<Rest>, rest>(
      product, specialised_launch<d>(stream), specialised_launch<rest>(stream));
}

}  // namespace fathom::gemm
