#pragma once

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/promoted_sums.cuh"
#include "gemm/blocks/register_operand.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The warp-specialised product: one warp keeps TMA busy, warpgroups multiply, and a
// ring of tiles lies between them. What a config has beside that is in `KernelConfig`.

namespace fathom::gemm {

/// Whether the threads keep the registers that they begin with: to change them, who multiplies
/// waits for who loads. A thread's sums of more than 64 columns do not fit into those.
template <KernelConfig d>
inline constexpr bool keeps_registers = d.single_tile && !d.promoted;

/// Every thread of the cluster meets here, as in cluster_sync, and sees barriers made before
/// barrier_init_fence, but no other memory: a release would wait for all of this thread's stores.
__device__ inline void cluster_sync_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// By the producer thread, after its last load: waits until all blocks have released every stage to
/// this one, so that it can end while they go on. Nothing else of theirs comes here: what they load
/// for this block, its consumer warps have waited for.
template <KernelConfig d>
__device__ inline void drain(const TileRing<d>& ring, RingPosition<d.stages> position) {
  for (int i = 0; i < d.stages; ++i, position.advance())
    wait(ring.empty(position.stage), position.parity ^ 1);
}

/// Stores a warp's finished sums by TMA from where the ring had the rows of A that its warpgroup
/// alone has read, a stage for each 128 bytes of a row; after the tile's last product.
template <KernelConfig d, class Out, class Scalar, int Count>
__device__ inline void store_through_ring(const TiledProduct<Out, Scalar>& p,
                                          const TileRing<d>& ring,
                                          const std::uint32_t (&sums)[Count], int block, int row,
                                          int column) {
  constexpr int columns = staged_columns<Out>, pieces = d.n / columns;
  static_assert(pieces * columns == d.n && pieces <= d.stages && 4 * staged_bytes == block_bytes);
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  named_barrier(2 + block, 128);  // all of the warpgroup's products are done
#pragma unroll
  for (int piece = 0; piece < pieces; ++piece) {
    const int first = piece * columns;
    const std::uint32_t buffer = ring.a(piece) + block * block_bytes + warp * staged_bytes;
    stage_chunk<Out, Scalar>(sums, first / 2, buffer);
    store_staged(p, row, column + first, buffer);
  }
}

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
#pragma unroll
    for (int i = 0; i < Count / 2; ++i)
      pairs[i] = packed<Out>(sum_of<float>(sums[2 * i]), sum_of<float>(sums[2 * i + 1]));
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

/// Registers of a producer and of a consumer thread: 128 and 256 of these share what 384 threads of
/// 168 are given (64512). Results that wait, or an operand on its way, take producers' registers.
template <KernelConfig d>
inline constexpr int producer_registers = d.deferred_stores || d.a_in_registers ? 24 : 40;
template <KernelConfig d>
inline constexpr int consumer_registers = d.deferred_stores || d.a_in_registers ? 240 : 232;

/// The bytes of all warps' buffers.
template <KernelConfig d>
inline constexpr int staging_bytes =
    d.tma_stores ? d.consumers * 4 * staging_slots* staged_bytes : 0;

/// Dynamic shared memory of a block.
template <KernelConfig d>
inline constexpr int specialised_shared_bytes = ring_shared_bytes<d, staging_bytes<d>>;

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

/// `first_tile`: where it begins; fill_ring has asked for it where the block keeps its registers.
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
    const int filled = keeps_registers<d> ? min(range.count, d.stages) : 0;
    if constexpr (keeps_registers<d>) position = {filled % d.stages, filled == d.stages ? 1u : 0u};
    for (int i = filled; i < range.count; ++i) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      const int stage = range.first + (scheduler.backwards ? range.count - 1 - i : i);
      load_stage<d, a_major, b_major>(ring, position.stage, place, p.map_a, p.map_b, corner.m,
                                      corner.n, stage * stage_depth<In>);
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
      named_barrier(1, d.consumers * 128);  // both warpgroups have read the ring
      const int row = warpgroup * 64 + warp * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
      keep_partial<d.n>(
          ring.tiles, of, [&](int upper) { return row + upper * 8; }, range.count > 0);
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
      } else if (p.tma_stores) {
        finish(p, of, row, corner.n);
        store_through_ring(p, ring, of, warpgroup, row, corner.n);
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

/// `Kernel` has the types In, Out and Scalar, `config`, and the Majors `a_major` and `b_major`.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::config.threads(), 1) specialised_product(
    const __grid_constant__ TiledProduct<typename Kernel::Out, typename Kernel::Scalar> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using In = typename Kernel::In;
  constexpr KernelConfig d = Kernel::config;
  constexpr Major a_major = Kernel::a_major, b_major = Kernel::b_major;
  extern __shared__ std::byte shared[];
  static_assert(d.consumers == 2 && d.m_blocks == 1, "the register counts are those of these");
  static_assert(d.cluster() > 1 && !(takes_turns<d> && d.split_k > 1));
  if constexpr (d.has_tail && d.a_in_registers) asm volatile("griddepcontrol.launch_dependents;");
  const ClusterPlace<d> place;
  const TileRing<d> ring = make_ring<d, staging_bytes<d>>(shared);
  const std::uint32_t staging = ring.tiles + TileRing<d>::bytes;
  TileIndex first_tile{};
  if constexpr (d.single_tile) {
    if (threadIdx.x == 128) {
      prefetch_map(p.map_a);
      prefetch_map(p.map_b);
      if (p.tma_stores) prefetch_map(p.map_c);
    }
    // A block has one tile. Its division is done, and the parameters are there, before the wait.
    first_tile = TileScheduler<d>(p).corner(p, place);
    int depth = p.depth;
    asm volatile("" : "+r"(first_tile.m), "+r"(first_tile.n), "+r"(depth));
  }
  if (threadIdx.x == 0) ring.init(4 * d.consumers * d.sharing());
  if constexpr (d.single_tile) {
    cluster_sync_relaxed();
  } else {
    cluster_sync();
  }

  if constexpr (d.single_tile) asm volatile("griddepcontrol.launch_dependents;");
  // What the kernel before has written can be read from here on; the tail kernel starts
  // after this, so that it need not wait itself.
  if constexpr (d.early && d.parent() == 1) asm volatile("griddepcontrol.wait;" ::: "memory");
  if constexpr ((d.early && !d.single_tile) || (d.has_tail && !d.a_in_registers))
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
    if constexpr (d.a_in_registers) {
      multiply_register_tiles<a_major, d>(p, {ring, place, group});
    } else {
      const int warp = static_cast<int>(threadIdx.x) / 32;
      multiply_tiles<In, d, a_major, b_major>(p, ring, place, first_tile, group,
                                              staging + warp * staging_slots * staged_bytes);
    }
  }

  // No block ends while another of its cluster may still arrive at its barriers or read its sums.
  static_assert(!d.single_tile ||
                (!d.tma_stores && !d.serpentine && (d.promoted ? d.split_k > 1 : d.n <= 64)));
  if constexpr (!d.single_tile || d.split_k > 1) cluster_sync();
  if constexpr (d.split_k > 1) {
    bool arrived = false;
    if (group < d.consumers) {
      const TileScheduler<d> scheduler(p);
      const TileIndex corner = scheduler.corner(p, place);
      if (!scheduler.done()) {
        // Beside an operand in registers there is none for the place: it is read anew.
        if constexpr (d.a_in_registers) {
          store_cluster_sum<d>(p, ring.tiles, ClusterPlace<d>(), corner);
        } else {
          store_cluster_sum<d>(p, ring.tiles, place, corner);
        }
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
