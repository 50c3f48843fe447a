#pragma once

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/promoted_sums.cuh"
#include "gemm/blocks/single_tile_block.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The warp-specialised product: one warp keeps TMA busy, warpgroups multiply, and a
// ring of tiles lies between them. What a config has beside that is in `KernelConfig`.

namespace fathom::gemm {

// A tile's results that leave while the next tile is multiplied.

/// What a warp has yet to store of the tile before.
template <KernelConfig d, class Out>
struct DeferredStores {
  static constexpr bool used = d.deferred_stores && sizeof(Out) == 2;
  static constexpr int chunks = used ? d.n / staged_columns<Out> : 0;
  static_assert(!used || (d.tma_stores && chunks % staging_slots == 0));
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

// Which tiles a cluster computes, and in which order.

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

/// Registers of a producer thread and of a consumer thread: 128 of the first and 256 of the
/// second share what 384 threads of 168 are given (64512 of the 65536). Results that wait take what
/// the producer threads can do without.
template <KernelConfig d>
inline constexpr int producer_registers = d.deferred_stores ? 24 : 40;
template <KernelConfig d>
inline constexpr int consumer_registers = d.deferred_stores ? 240 : 232;

/// The bytes of all warps' buffers.
template <KernelConfig d>
inline constexpr int staging_bytes =
    d.tma_stores ? d.consumers * 4 * staging_slots* staged_bytes : 0;

/// Dynamic shared memory of a block: the ring on 1024 bytes, the buffers of C, the barriers.
template <KernelConfig d>
constexpr int specialised_shared_bytes() {
  return 1024 + TileRing<d>::bytes + staging_bytes<d> + TileRing<d>::barrier_bytes;
}

/// The stages of k that a block takes: all, or its part of `split_k`.
struct DepthRange {
  int first, count;
};
template <KernelConfig d, class P>
__device__ inline DepthRange depth_range(const P& p, const ClusterPlace<d>& place) {
  if constexpr (d.split_k == 1) return {0, p.depth};
  const int first = static_cast<int>(static_cast<long long>(p.depth) * place.k / d.split_k);
  const int end = static_cast<int>(static_cast<long long>(p.depth) * (place.k + 1) / d.split_k);
  return {first, end - first};
}

/// Asks for the stages that fill the ring, or all that there are, before anything was in it. By the
/// producer thread of a block that keeps its registers, beside whose start this is in the code.
template <class In, KernelConfig d, Major a_major, Major b_major, class P>
__device__ inline void fill_ring(const P& p, const TileRing<d>& ring, const ClusterPlace<d>& place,
                                 TileIndex corner) {
  const DepthRange range = depth_range<d>(p, place);
#pragma unroll 1
  for (int i = 0; i < min(range.count, d.stages); ++i) {
    load_stage<d, a_major, b_major>(ring, i, place, p.map_a, p.map_b, corner.m, corner.n,
                                    (range.first + i) * stage_depth<In>);
  }
}

/// `first_tile`: where the first tile begins; its first stages have been asked for by fill_ring if
/// the block keeps its registers.
template <class In, KernelConfig d, Major a_major, Major b_major, class P>
__device__ inline void load_tiles(const P& p, const TileRing<d>& ring, const ClusterPlace<d>& place,
                                  TileIndex first_tile = {}) {
  if constexpr (!d.single_tile) {
    prefetch_map(p.map_a);
    prefetch_map(p.map_b);
  }
  RingPosition<d.stages> position;
  const DepthRange range = depth_range<d>(p, place);
  for (TileScheduler<d> scheduler(p); !scheduler.done(); scheduler.advance()) {
    const TileIndex corner = d.single_tile ? first_tile : scheduler.corner(p, place);
    std::uint64_t policy_a = 0;
    if constexpr (d.kept_a > 0)
      policy_a = scheduler.leaves_band(p) ? ordinary_policy() : keeping_policy(d.kept_a);
    const int filled = keeps_registers<d> ? min(range.count, d.stages) : 0;
    if constexpr (keeps_registers<d>) position = {filled % d.stages, filled == d.stages ? 1u : 0u};
    for (int i = filled; i < range.count; ++i) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      const int stage = range.first + (scheduler.backwards ? range.count - 1 - i : i);
      load_stage<d, a_major, b_major>(ring, position.stage, place, p.map_a, p.map_b, corner.m,
                                      corner.n, stage * stage_depth<In>, policy_a);
      position.advance();
    }
  }
  if constexpr (d.single_tile && d.sharing() > 1 && d.split_k == 1) drain(ring, position);
}

/// A warpgroup's tiles: multiplied and, but for a split k, stored.
template <class In, KernelConfig d, Major a_major, Major b_major, class P>
__device__ inline void multiply_tiles(const P& p, const TileRing<d>& ring,
                                      const ClusterPlace<d>& place, TileIndex first_tile,
                                      int warpgroup, std::uint32_t staging) {
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const DepthRange range = depth_range<d>(p, place);
  RingPosition<d.stages> position;
  using Out = std::remove_reference_t<decltype(*p.c.data)>;
  Sums<d> sums;
  start(sums);
  auto& of = sums.of[0];
  DeferredStores<d, Out> deferred;
  if (takes_turns<d> && warpgroup == 1) ping_pong_arrive(1);  // the first is the other's
  for (TileScheduler<d> scheduler(p); !scheduler.done(); scheduler.advance()) {
    TileIndex corner = keeps_registers<d> ? first_tile : scheduler.corner(p, place);
    // Divided now, under the products, and not when the results wait for it.
    if constexpr (d.tma_stores) asm volatile("" : "+r"(corner.m), "+r"(corner.n));
    if constexpr (d.promoted) {
      accumulate_promoted<In, d, a_major, b_major>(ring, position, range.count, warpgroup, place,
                                                   sums);
    } else {
      accumulate<In, d, a_major, b_major>(ring, position, range.count, warpgroup, place, sums,
                                          [&](int step) { deferred.store(p, step, staging); });
    }
    if constexpr (d.split_k > 1) {
      if (takes_turns<d> && warpgroup == 0) ping_pong_wait(0);
      named_barrier(1, d.consumers * 128);  // both warpgroups have read the ring
      keep_partial<d.n>(ring.tiles, of, warpgroup * 64 + warp * 16, range.count > 0);
      return;
    } else {
      const int row = corner.m + warpgroup * 64 + warp * 16;
      if constexpr (d.tma_stores) {
        finish(p, of, row, corner.n);
        if (p.tma_stores) {
          if constexpr (deferred.used) {
            deferred.store_from(p, range.count, staging);
            deferred.take(of, row, corner.n);
          } else {
            store_by_tma(p, of, row, corner.n, staging);
          }
        } else {
          store_by_rows(p, of, row, corner.n, staging);
        }
      } else if constexpr (stores_through_ring<d, Out>) {
        if (p.tma_stores) {
          finish(p, of, row, corner.n);
          store_through_ring(p, ring, of, warpgroup, row, corner.n);
        } else {
          store_from_registers(p, of, row, corner.n);
        }
      } else {
        store_from_registers(p, of, row, corner.n);
      }
    }
  }
  if (takes_turns<d> && warpgroup == 0) ping_pong_wait(0);  // the one that the other passed last
  deferred.store_from(p, 0, staging);
  if constexpr (d.tma_stores) wait_stores();
  if constexpr (d.single_tile && d.split_k == 1) wait_stores_read<0>();
}

/// `Kernel` has the types In, Out and Scalar, the KernelConfig `config` and the Majors `a_major`
/// and `b_major`.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::config.threads(), 1) specialised_product(
    const __grid_constant__ TiledProduct<typename Kernel::Out, typename Kernel::Scalar> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using In = typename Kernel::In;
  constexpr KernelConfig d = Kernel::config;
  constexpr Major a_major = Kernel::a_major, b_major = Kernel::b_major;
  extern __shared__ std::byte shared[];
  static_assert(d.consumers == 2 && d.m_blocks == 1, "the register counts are those of these");
  const ClusterPlace<d> place;
  TileRing<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t staging = ring.tiles + TileRing<d>::bytes;
  ring.barriers = staging + staging_bytes<d>;
  TileIndex first_tile{};
  if constexpr (d.single_tile) {
    if (threadIdx.x == 128) prefetch_maps(p);
    // A block has one tile. Its division is done, and the parameters are there, before the wait.
    first_tile = TileScheduler<d>(p).corner(p, place);
    int depth = p.depth;
    asm volatile("" : "+r"(first_tile.m), "+r"(first_tile.n), "+r"(depth));
  }
  if (threadIdx.x == 0) ring.init(4 * d.consumers * d.sharing());
  if constexpr (d.cluster() == 1) {
    __syncthreads();
  } else if constexpr (d.single_tile) {
    cluster_sync_relaxed();
  } else {
    cluster_sync();
  }

  if constexpr (d.single_tile) asm volatile("griddepcontrol.launch_dependents;");
  // What the kernel before has written can be read from here on; the tail kernel starts
  // after this, so that it need not wait itself.
  if constexpr (d.early && d.parent() == 1) asm volatile("griddepcontrol.wait;" ::: "memory");
  if constexpr ((d.early && !d.single_tile) || d.has_tail)
    asm volatile("griddepcontrol.launch_dependents;");

  if constexpr (keeps_registers<d>) {
    if (threadIdx.x == d.consumers * 128)
      fill_ring<In, d, a_major, b_major>(p, ring, place, first_tile);
  }

  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    if constexpr (!keeps_registers<d>)
      asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(producer_registers<d>));
    if (threadIdx.x % 128 == 0) load_tiles<In, d, a_major, b_major>(p, ring, place, first_tile);
  } else {
    if constexpr (!keeps_registers<d>)
      asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(consumer_registers<d>));
    const int warp = static_cast<int>(threadIdx.x) / 32;
    multiply_tiles<In, d, a_major, b_major>(p, ring, place, first_tile, group,
                                            staging + warp * staging_slots * staged_bytes);
  }

  // No block ends while another of its cluster may still arrive at its barriers or read its sums.
  static_assert(!d.single_tile || (!d.persistent && !d.tma_stores && !d.serpentine &&
                                   d.kept_a == 0 && (d.promoted ? d.split_k > 1 : d.n <= 64)));
  if constexpr (d.cluster() > 1 && !(d.single_tile && d.split_k == 1)) cluster_sync();
  if constexpr (d.split_k > 1) {
    bool arrived = false;
    if (group < d.consumers) {
      const TileScheduler<d> scheduler(p);
      if (!scheduler.done()) {
        store_cluster_sum<d>(p, ring.tiles, place, scheduler.corner(p, place));
        arrived = true;
      }
    }
    if constexpr (d.single_tile) {
      if (!arrived) cluster_arrive();
      cluster_wait();
    } else {
      cluster_sync();
    }
  }
  // What comes after the tail kernel waits for it alone: so it ends last.
  if constexpr (d.parent() > 1) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace fathom::gemm
