#pragma once

#include "gemm/blocks/wgmma.cuh"

// How the contenders by wgmma cut a product, fill the ring (tma.cuh) and multiply from it.

namespace fathom::gemm {

/// How a kernel cuts C (m x n) = A (m x k) B (k x n), row-major (gemm/bench/problem.h).
struct KernelConfig {
  int consumers = 2;  ///< warpgroups that multiply
  int m_blocks = 1;   ///< blocks of 64 rows of each
  int n = 256;        ///< columns of a block's tile
  int stages = 4;     ///< of the ring
  int cluster_m = 1;  ///< blocks of a cluster one below the other: they load each tile of B once
  int cluster_n = 1;  ///< and beside each other: they load each tile of A once
  int split_k = 1;    ///< blocks of a cluster that share the k of one tile
  int band = 8;       ///< cluster rows that persistent blocks go through column by column
  bool tma_stores = false;  ///< C leaves through shared memory and TMA
  /// A tile's results wait as 16-bit elements in registers, and leave while the next is multiplied.
  bool deferred_stores = false;
  /// Its blocks may start, and wait, while the kernel before it on the stream ends.
  bool early = false;
  /// A block has one tile, and a launch takes microseconds: blocks of a cluster synchronise without
  /// waiting for what they have written, end one by one, and store C through the free ring.
  bool single_tile = false;
  /// A's blocks come to the products through registers (register_operand.cuh). B lies along k.
  bool a_in_registers = false;
  bool promoted = false;  ///< each stage's sums are added up outside the tensor cores
  /// Every other tile goes through k backwards: it starts with what the L2 has seen last.
  bool serpentine = false;
  /// B, along k, has one box a stage, of its tile's own lines, fewer than 64.
  bool narrow_b = false;
  bool has_tail = false;  ///< a tail kernel runs beside it on the SMs that its clusters leave
  /// Cluster tiles of an entry of the scheduler: more than one for a tail kernel.
  int parent_m = 1, parent_n = 1;
  /// Three products of the operands' high and low parts, the first operand by way of registers; of
  /// the second both parts are planes in memory (gemm/best/tf32_planes.h).
  bool three_products = false;

  /// As many blocks as the GPU holds, from tile to tile; else a block a tile.
  __host__ __device__ constexpr bool persistent() const { return split_k == 1 && !single_tile; }
  __host__ __device__ constexpr int planes() const { return three_products ? 2 : 1; }
  __host__ __device__ constexpr int m() const { return 64 * m_blocks * consumers; }
  __host__ __device__ constexpr int cluster() const { return cluster_m * cluster_n * split_k; }
  /// Blocks of a cluster that share a tile of A or of B with one of them, itself included.
  __host__ __device__ constexpr int sharing() const { return cluster_m + cluster_n - 1; }
  __host__ __device__ constexpr int parent() const { return parent_m * parent_n; }
  __host__ __device__ constexpr int threads() const { return 128 * (consumers + 1); }
  __host__ __device__ constexpr int a_blocks() const { return m() / block_side; }
  __host__ __device__ constexpr int a_bytes() const { return a_blocks() * block_bytes; }
  /// Lines of B's boxes, and how many hold its tile's, of all its planes.
  __host__ __device__ constexpr int b_box_lines() const { return narrow_b ? n * planes() : 64; }
  __host__ __device__ constexpr int b_blocks() const { return (n * planes() + 63) / 64; }
  __host__ __device__ constexpr int stage_bytes() const {
    return a_bytes() + b_blocks() * b_box_lines() * 128;
  }
};

/// Lines of 128 bytes are the unit of k: so many elements.
template <class In>
inline constexpr int stage_depth = 128 / static_cast<int>(sizeof(In));

inline constexpr int half_block_side = 32, half_block_bytes = block_bytes / 2;

/// Loads block `block` of an operand's tile whose first outer index is `outer`, at `k`, to all of
/// `Sharers` blocks of the cluster, `blocks`: one box or, in `Halves`, of 32-bit elements along the
/// outer dimension, two of 32 lines of k with 32 elements each.
template <Major major, int Sharers, bool Halves = false>
__device__ inline void load_block(std::uint32_t tile, int block, const CUtensorMap& map, int outer,
                                  int k, std::uint32_t barrier, std::uint16_t blocks) {
#pragma unroll
  for (int half = 0; half < (Halves ? 2 : 1); ++half) {
    const std::uint32_t target = tile + block * block_bytes + half * half_block_bytes;
    const int o = outer + block * block_side + half * half_block_side;
    const int x = major == Major::k ? k : o, y = major == Major::k ? o : k;
    if constexpr (Sharers == 1) {
      load_box(target, map, x, y, barrier);
    } else {
      load_box_multicast(target, map, x, y, barrier, blocks);
    }
  }
}

/// Fills one stage: of the tile of A, which all of `cluster_n` need, and of B, which all of
/// `cluster_m` do, its share for all of them.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void load_stage(const TileRing<d>& ring, int stage, const ClusterPlace<d>& place,
                                  const CUtensorMap& map_a, const CUtensorMap& map_b, int row,
                                  int column, int k) {
  const std::uint32_t full = ring.full(stage);
  constexpr int share_a = d.a_blocks() / d.cluster_n, share_b = d.b_blocks() / d.cluster_m;
  arrive_expect_tx(full, d.stage_bytes());
  static_assert(share_a * d.cluster_n == d.a_blocks() && share_b * d.cluster_m == d.b_blocks());
  const std::uint16_t row_blocks = place.row(), column_blocks = place.column();
#pragma unroll
  for (int i = 0; i < share_a; ++i) {
    constexpr bool halves = d.a_in_registers && a_major == Major::outer;
    load_block<a_major, d.cluster_n, halves>(ring.a(stage), place.n * share_a + i, map_a, row, k,
                                             full, row_blocks);
  }
#pragma unroll
  for (int i = 0; i < share_b; ++i) {
    load_block<b_major, d.cluster_m>(ring.b(stage), place.m * share_b + i, map_b,
                                     column * d.planes(), k, full, column_blocks);
  }
}

/// A cluster's tiles in order. C is cut into entries, gone through in bands; an entry is a
/// cluster's tile, or for the tail kernel as many as make one of the other kernel's.
template <KernelConfig d>
struct TileScheduler {
  int next, step, end;
  bool backwards = false;  ///< through k
  template <class P>
  __device__ explicit TileScheduler(const P& p)
      : next(p.first + static_cast<int>(blockIdx.x) / d.cluster()), step(p.step), end(p.end) {}
  __device__ bool done() const { return next >= end; }
  __device__ void advance() {
    next += step;
    backwards = d.serpentine && !backwards;
  }
  template <class P>
  __device__ static TileIndex entry_of(const P& p, int entry) {
    // Others go row by row: one division instead of three.
    if constexpr (!d.persistent()) return {entry / p.tiles_n, entry % p.tiles_n};
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

/// Multiplies `steps` stages from `position` on and leaves it behind them. The group of one stage
/// is under way while the next is issued.
/// `meanwhile` is called with each step while its products are under way.
template <class In, KernelConfig d, Major a_major, Major b_major, class Meanwhile>
__device__ inline void accumulate(const TileRing<d>& ring, RingPosition<d.stages>& position,
                                  int steps, int a_block, const ClusterPlace<d>& place,
                                  Sums<d>& sums, const Meanwhile& meanwhile) {
  int last = -1;
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
    multiply_stage<In, a_major, b_major>(ring, position.stage, a_block, sums, step > 0);
    meanwhile(step);
    wgmma_wait_group<1>();
    if (last >= 0) release(ring, last, place);
    last = position.stage;
    position.advance();
  }
  wgmma_wait_group<0>();
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) fence_accumulators(sums.of[i]);
  if (last >= 0) release(ring, last, place);
}

}  // namespace fathom::gemm
