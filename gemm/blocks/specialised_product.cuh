#pragma once

#include <algorithm>

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/register_operand.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The warp-specialised product: one warp keeps the copy engine busy, warpgroups multiply, and a
// ring of tiles lies between them. What a design has beside that is in `Design`.

namespace fathom::gemm {

/// Registers of a thread that loads and of one that multiplies: 128 of the first and 256 of the
/// second share what 384 threads of 168 are given (64512 of the 65536).
inline constexpr int loading_registers = 24, multiplying_registers = 240;

/// Of all warps' buffers.
template <Design d>
inline constexpr int staging_bytes = d.engine_stores ? d.consumers * 4 * staging_slots * staged_bytes : 0;

/// Dynamic shared memory of a block: the ring on 1024 bytes, the buffers of C, the barriers.
template <Design d>
constexpr int specialised_shared_bytes() {
  return 1024 + TileRing<d>::bytes + staging_bytes<d> + TileRing<d>::barrier_bytes;
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
  /// Whether the next tile of this cluster is of another band: what this one's rows had in the L2 is
  /// of no more use.
  template <class P>
  __device__ bool leaves_band(const P& p) const {
    const int of_band = d.band * p.tiles_n * d.parent();
    return next + step >= end || (next + step) / of_band != next / of_band;
  }
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
    std::uint64_t policy_a = 0;
    if constexpr (d.kept_a > 0)
      policy_a = walk.leaves_band(p) ? ordinary_policy() : keeping_policy(d.kept_a);
    for (int i = 0; i < range.count; ++i) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      const int stage = range.first + (walk.backwards ? range.count - 1 - i : i);
      load_stage<d, a_major, b_major>(ring, position.stage, place, p.map_a, p.map_b, corner.m,
                                      corner.n, stage * stage_depth<In>, policy_a);
      position.advance();
    }
  }
}

/// Calls `use` with 0 to Count - 1 as constants.
template <int Count, class Use>
__device__ inline void each_block(const Use& use) {
  if constexpr (Count > 1) each_block<Count - 1>(use);
  use.template operator()<Count - 1>();
}

/// What a warp has yet to store of the tile before.
template <Design d, class Out>
struct DeferredStores {
  static constexpr bool used = d.deferred_stores && sizeof(Out) == 2;
  static constexpr int chunks = used ? d.n / staged_columns<Out> : 0;
  static_assert(!used || (d.engine_stores && d.m_blocks == 1 && chunks % staging_slots == 0));
  std::uint32_t pairs[used ? d.n / 4 : 1] = {};
  int row = 0, column = 0;
  bool pending = false;

  /// Keeps a tile's finished sums.
  template <int Count>
  __device__ void take(const std::uint32_t (&sums)[Count], int to_row, int to_column) {
    pack<Out>(sums, pairs);
    row = to_row;
    column = to_column;
    pending = true;
  }
  /// Stores one of the chunks of 64 columns; nothing if there is no such.
  template <class P>
  __device__ void store(const P& p, int chunk, std::uint32_t staging) {
    if constexpr (used) {
      if (!pending || chunk >= chunks) return;
      if (threadIdx.x % 32 == 0) wait_stores_read<staging_slots - 1>();
      __syncwarp();
      const std::uint32_t buffer = staging + chunk % staging_slots * staged_bytes;
#pragma unroll
      for (int c = 0; c < chunks; ++c) {
        if (chunk == c) stage_pairs(pairs, c * 16, buffer);
      }
      store_staged(p, row, column + chunk * staged_columns<Out>, buffer);
    }
  }
  /// Stores the chunks from `first` on.
  template <class P>
  __device__ void store_from(const P& p, int first, std::uint32_t staging) {
#pragma unroll 1
    for (int chunk = first; chunk < chunks; ++chunk) store(p, chunk, staging);
    pending = false;
  }
};

/// A warpgroup's tiles: multiplied and, but for a split k, stored.
template <class In, Design d, Major a_major, Major b_major, class P>
__device__ inline void multiply_tiles(const P& p, const TileRing<d>& ring,
                                      const ClusterPlace<d>& place, int warpgroup,
                                      std::uint32_t staging) {
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int a_block = warpgroup * d.m_blocks;
  const DepthRange range = depth_range<d>(p, place);
  RingPosition<d.stages> position;
  using Out = std::remove_reference_t<decltype(*p.c.data)>;
  constexpr int chunks = d.n / staged_columns<Out>;  // of a row, by way of shared memory
  static_assert(!d.engine_stores || d.m_blocks * chunks % staging_slots == 0,
                "the buffers take turns over tiles too");
  Sums<d> sums;
  start(sums);
  DeferredStores<d, Out> deferred;
  if (d.promoted && a_block == 1) pass_turn(1);  // the first is the other's
  for (TileWalk<d> walk(p); !walk.done(); walk.advance()) {
    TileIndex corner = walk.corner(p, place);
    // Divided now, under the products, and not when the results wait for it.
    asm volatile("" : "+r"(corner.m), "+r"(corner.n));
    if constexpr (d.a_in_registers) {
      accumulate_from_registers<In, d>(ring, position, range.count, a_block, place, sums);
    } else if constexpr (d.promoted) {
      accumulate_promoted<In, d, a_major, b_major>(ring, position, range.count, a_block, place,
                                                   sums);
    } else {
      accumulate<In, d, a_major, b_major>(ring, position, range.count, a_block, place, sums,
                                          [&](int step) { deferred.store(p, step, staging); });
    }
    if constexpr (d.split_k > 1) {
      if (d.promoted && a_block == 0) take_turn(0);
      named_barrier(1, d.consumers * 128);  // both warpgroups have read the ring
#pragma unroll
      for (int i = 0; i < d.m_blocks; ++i)
        keep_partial<d.n>(ring.tiles, sums.of[i], (a_block + i) * 64 + warp * 16, range.count > 0);
      return;
    } else {
      each_block<d.m_blocks>([&]<int i> {
        const int row = corner.m + (a_block + i) * 64 + warp * 16;
        if constexpr (!d.a_in_registers) finish(p, sums.of[i], row, corner.n);
        if constexpr (d.a_in_registers) {
          store_permuted(p, sums.of[i], corner.m + (a_block + i) * 64, corner.n);
        } else if constexpr (d.engine_stores) {
          if (p.engine_stores) {
            if constexpr (deferred.used) {
              deferred.store_from(p, range.count, staging);
              deferred.take(sums.of[i], row, corner.n);
            } else {
              store_by_engine<i * chunks>(p, sums.of[i], row, corner.n, staging);
            }
          } else {
            store_by_rows(p, sums.of[i], row, corner.n, staging);
          }
        } else {
          store_from_registers(p, sums.of[i], row, corner.n);
        }
      });
    }
  }
  if (d.promoted && a_block == 0) take_turn(0);  // the one that the other passed last
  deferred.store_from(p, 0, staging);
  if constexpr (d.engine_stores) wait_stores();
}

/// `Config` has the types In, Out and Scalar, the Design `design` and the Majors `a_major` and
/// `b_major`.
template <class Config>
__global__ void __launch_bounds__(Config::design.threads(), 1) specialised_product(
    const __grid_constant__ TiledProduct<typename Config::Out, typename Config::Scalar> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using In = typename Config::In;
  constexpr Design d = Config::design;
  constexpr Major a_major = Config::a_major, b_major = Config::b_major;
  extern __shared__ std::byte shared[];
  static_assert(d.consumers == 2, "the register counts are those of two");
  const ClusterPlace<d> place;
  TileRing<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t staging = ring.tiles + TileRing<d>::bytes;
  ring.barriers = staging + staging_bytes<d>;
  if (threadIdx.x == 0) ring.init(4 * d.consumers * d.sharing());
  if constexpr (d.cluster() == 1) {
    __syncthreads();
  } else {
    cluster_sync();
  }

  // What the kernel before has written can be read from here on; the kernel of the rest starts after
  // this, so that it need not wait itself.
  if constexpr (d.early && d.parent() == 1) asm volatile("griddepcontrol.wait;" ::: "memory");
  if constexpr (d.early || d.leaves_rest) asm volatile("griddepcontrol.launch_dependents;");

  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    if (threadIdx.x % 128 == 0) load_tiles<In, d, a_major, b_major>(p, ring, place);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(multiplying_registers));
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
  return {1, d.threads(), specialised_shared_bytes<d>(), d.cluster(), stream, d.early};
}

/// Launches a design on a product whose maps are made: in a cluster a tile or, if persistent, in as
/// many as the GPU runs at once, each of which goes from tile to tile.
template <class Config>
void launch_specialised(TiledProduct<typename Config::Out, typename Config::Scalar> product,
                        cudaStream_t stream) {
  constexpr Design d = Config::design;
  const auto kernel = specialised_product<Config>;
  ClusterLaunch launch = specialised_launch<d>(stream);
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
/// beside it on the SMs that they leave small ones, `Rest`, whose tiles together make the large one's.
/// Both walk the same entries in step, wave by wave.
template <class Config, class Rest>
void launch_with_rest(TiledProduct<typename Config::Out, typename Config::Scalar> product,
                      cudaStream_t stream) {
  constexpr Design d = Config::design, rest = Rest::design;
  static_assert(d.leaves_rest && d.persistent == rest.persistent);
  static_assert(rest.parent_m * rest.cluster_m * rest.m() == d.cluster_m * d.m() &&
                rest.parent_n * rest.cluster_n * rest.n == d.cluster_n * d.n);
  const auto kernel = specialised_product<Config>;
  const auto rest_kernel = specialised_product<Rest>;
  ClusterLaunch launch = specialised_launch<d>(stream), rest_launch = specialised_launch<rest>(stream);
  static const int resident = resident_clusters(kernel, launch);
  /// Entries' worth of small clusters on the SMs that are left.
  static const int rest_entries =
      (resident_clusters(rest_kernel, rest_launch) * rest.cluster() - resident * d.cluster()) /
      (rest.cluster() * rest.parent());
  const int entries = product.tiles_m * product.tiles_n;
  // Blocks that do not stay are worth it for a single wave.
  const bool one_kernel = !d.persistent && entries > resident + rest_entries;
  const int clusters = one_kernel ? entries : std::min(entries, resident);
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

}  // namespace fathom::gemm
