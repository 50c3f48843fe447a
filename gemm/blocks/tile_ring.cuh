#pragma once

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/tma.cuh"
#include "gemm/blocks/wgmma.cuh"

// A ring of tile pairs in shared memory: TMA fills it, warpgroups multiply from it.

namespace fathom::gemm {

// What a kernel whose operands come by TMA is told of its shape.

/// How a kernel cuts a product C (m x n) = A (m x k) B (k x n), in row-major terms
/// (gemm/bench/problem.h).
struct KernelConfig {
  int consumers = 2;  ///< warpgroups that multiply
  int m_blocks = 1;   ///< blocks of 64 rows of each
  int n = 256;        ///< columns of a block's tile
  int stages = 4;     ///< of the ring
  int cluster_m = 1;  ///< blocks of a cluster one below the other: they load each tile of B once
  int cluster_n = 1;  ///< and beside each other: they load each tile of A once
  int split_k = 1;    ///< blocks of a cluster that share the k of one tile
  int band = 8;       ///< cluster rows that are gone through column by column
  bool persistent =
      false;  ///< as many blocks as the GPU holds, from tile to tile; else a block a tile
  bool tma_stores = false;  ///< C leaves through shared memory and TMA
  /// A tile's results wait as 16-bit elements in registers, and leave while the next is multiplied.
  bool deferred_stores = false;
  /// Its blocks may start, and wait, while the kernel before it on the stream ends.
  bool early = false;
  /// A block has one tile, and the launch takes microseconds: blocks of a cluster synchronise
  /// without waiting for what they have written, end one by one, and store C through the ring,
  /// which they have no more use for.
  bool single_tile = false;
  bool a_in_registers =
      false;  ///< A's blocks come to the products through registers (register_product.cuh)
  bool promoted = false;  ///< each stage's sums are added up outside the tensor cores
  /// Every other tile goes through k backwards: it starts with what the L2 has seen last.
  bool serpentine = false;
  /// B's boxes have as many lines as the tile has columns, fewer than 64, instead of lines that
  /// other tiles have or none. For B along k only.
  bool narrow_b = false;
  float kept_a = 0;       ///< how much of A's lines the L2 is told to keep for the rest of the band
  bool has_tail = false;  ///< a tail kernel runs beside it on the SMs that its clusters leave
  /// Cluster tiles of an entry of the scheduler: more than one for a tail kernel.
  int parent_m = 1, parent_n = 1;
  /// Three products of the operands' high and low parts, the first operand by way of registers; of
  /// the second both parts are planes in memory (gemm/best/tf32_planes.h).
  bool three_products = false;

  __host__ __device__ constexpr int planes() const { return three_products ? 2 : 1; }
  /// What the ring is told where the first operand goes through registers: its second one has the
  /// columns of all planes.
  __host__ __device__ constexpr KernelConfig ring() const {
    KernelConfig d = *this;
    d.n = n * planes();
    d.a_in_registers = true;
    return d;
  }
  __host__ __device__ constexpr int m() const { return 64 * m_blocks * consumers; }
  __host__ __device__ constexpr int cluster() const { return cluster_m * cluster_n * split_k; }
  /// Blocks of a cluster that share a tile of A or of B with one of them, itself included.
  __host__ __device__ constexpr int sharing() const { return cluster_m + cluster_n - 1; }
  __host__ __device__ constexpr int parent() const { return parent_m * parent_n; }
  __host__ __device__ constexpr int threads() const { return 128 * (consumers + 1); }
  __host__ __device__ constexpr int a_blocks() const { return m() / block_side; }
  __host__ __device__ constexpr int b_blocks() const { return (n + block_side - 1) / block_side; }
  /// Lines of B's boxes.
  __host__ __device__ constexpr int b_box_lines() const { return narrow_b ? n : block_side; }
  __host__ __device__ constexpr int stage_bytes() const {
    return a_blocks() * block_bytes + (narrow_b ? n * 128 : b_blocks() * block_bytes);
  }
};

/// Lines of 128 bytes are the unit of k: so many elements.
template <class In>
inline constexpr int stage_depth = 128 / static_cast<int>(sizeof(In));

/// The ring's memory and barriers, all of them shared-memory addresses.
template <KernelConfig d>
struct TileRing {
  std::uint32_t tiles, barriers;

  static constexpr int bytes = d.stages * d.stage_bytes();
  static constexpr int barrier_bytes = 2 * 8 * d.stages;

  __device__ std::uint32_t a(int stage) const { return tiles + stage * d.stage_bytes(); }
  __device__ std::uint32_t b(int stage) const { return a(stage) + d.a_blocks() * block_bytes; }
  /// Ends when the stage's bytes have all arrived.
  __device__ std::uint32_t full(int stage) const { return barriers + 8 * stage; }
  /// Ends when every warp that reads what this block loads has read it.
  __device__ std::uint32_t empty(int stage) const { return barriers + 8 * (d.stages + stage); }

  /// By one thread; the cluster must meet before anybody uses the ring.
  __device__ void init(int reading_warps) const {
    for (int stage = 0; stage < d.stages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), reading_warps);
    }
    barrier_init_fence();
  }
};

/// Where a block of a cluster stands in it.
template <KernelConfig d>
struct ClusterPlace {
  int rank, m, n, k;
  __device__ ClusterPlace() {
    const unsigned r = d.cluster() == 1 ? 0 : cluster_rank();  // unsigned: a mask and a shift each
    rank = static_cast<int>(r);
    m = static_cast<int>(r % d.cluster_m);
    n = static_cast<int>(r / d.cluster_m % d.cluster_n);
    k = static_cast<int>(r / (d.cluster_m * d.cluster_n));
  }
  /// Rank of the block of the same part of k at (m, n).
  __device__ int rank_of(int m, int n) const { return (k * d.cluster_n + n) * d.cluster_m + m; }
  /// Rank of one of those that share a tile with this one: first its column, then the rest of its
  /// row.
  __device__ int sharer(int i) const {
    if (i < d.cluster_m) return rank_of(i, n);
    const int other = i - d.cluster_m;
    return rank_of(m, other + (other >= n));
  }
  /// Those of its row, which share its A, and of its column, which share its B, as bits.
  __device__ std::uint16_t row() const {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < d.cluster_n; ++i) bits |= 1u << rank_of(m, i);
    return static_cast<std::uint16_t>(bits);
  }
  __device__ std::uint16_t column() const {
    return static_cast<std::uint16_t>(((1u << d.cluster_m) - 1) << rank_of(0, n));
  }
};

/// Loads block `block` of an operand's tile whose first outer index is `outer`, at `k`, to all of
/// `Sharers` blocks of the cluster, `blocks`.
template <Major major, int Sharers, bool Hinted>
__device__ inline void load_block(std::uint32_t tile, int block, const CUtensorMap& map, int outer,
                                  int k, std::uint32_t barrier, std::uint16_t blocks,
                                  std::uint64_t policy) {
  const int o = outer + block * block_side;
  const int x = major == Major::k ? k : o, y = major == Major::k ? o : k;
  const std::uint32_t target = tile + block * block_bytes;
  if constexpr (Sharers == 1) {
    load_box<Hinted>(target, map, x, y, barrier, policy);
  } else {
    load_box_multicast<Hinted>(target, map, x, y, barrier, blocks, policy);
  }
}

inline constexpr int half_block_side = 32, half_block_bytes = block_bytes / 2;

/// The same of 32-bit elements along the outer dimension: two boxes of 32 lines of k, 32 elements
/// each.
template <int Sharers>
__device__ inline void load_split_block(std::uint32_t tile, int block, const CUtensorMap& map,
                                        int outer, int k, std::uint32_t barrier,
                                        std::uint16_t blocks) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t target = tile + block * block_bytes + half * half_block_bytes;
    const int o = outer + block * block_side + half * half_block_side;
    if constexpr (Sharers == 1) {
      load_box<false>(target, map, o, k, barrier, 0);
    } else {
      load_box_multicast<false>(target, map, o, k, barrier, blocks, 0);
    }
  }
}

/// Fills one stage: of the tile of A, which all of `cluster_n` need, and of B, which all of
/// `cluster_m` do, its share for all of them.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void load_stage(const TileRing<d>& ring, int stage, const ClusterPlace<d>& place,
                                  const CUtensorMap& map_a, const CUtensorMap& map_b, int row,
                                  int column, int k, std::uint64_t policy_a = 0) {
  const std::uint32_t full = ring.full(stage);
  constexpr int share_a = d.a_blocks() / d.cluster_n, share_b = d.b_blocks() / d.cluster_m;
  arrive_expect_tx(full, d.stage_bytes());
  static_assert(share_a * d.cluster_n == d.a_blocks() && share_b * d.cluster_m == d.b_blocks());
  const std::uint16_t row_blocks = place.row(), column_blocks = place.column();
#pragma unroll
  for (int i = 0; i < share_a; ++i) {
    if constexpr (d.a_in_registers && a_major == Major::outer) {
      load_split_block<d.cluster_n>(ring.a(stage), place.n * share_a + i, map_a, row, k, full,
                                    row_blocks);
    } else {
      load_block<a_major, d.cluster_n, (d.kept_a > 0)>(ring.a(stage), place.n * share_a + i, map_a,
                                                       row, k, full, row_blocks, policy_a);
    }
  }
#pragma unroll
  for (int i = 0; i < share_b; ++i) {
    load_block<b_major, d.cluster_m, false>(ring.b(stage), place.m * share_b + i, map_b, column, k,
                                            full, column_blocks, 0);
  }
}

/// Sums of one warpgroup: of each of its blocks of 64 rows, N columns (gemm/blocks/warp_tile.cuh).
template <KernelConfig d>
struct Sums {
  std::uint32_t of[d.m_blocks][d.n / 2];
};

/// Gives the sums' registers a value that the compiler cannot know: it would set a known one just
/// before the first product reads it, between products that are under way, and they would have to
/// wait for each other.
template <KernelConfig d>
__device__ inline void start(Sums<d>& sums) {
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
    for (std::uint32_t& sum : sums.of[i]) sum = 0;
    fence_accumulators(sums.of[i]);
  }
}

/// Issues the products of one stage for the warpgroup whose first block of A is `a_block`; commits
/// them as one group.
template <class In, KernelConfig d, Major a_major, Major b_major>
__device__ inline void multiply_stage(const TileRing<d>& ring, int stage, int a_block,
                                      Sums<d>& sums, bool add) {
  const std::uint64_t a = tile_descriptor<a_major>(ring.a(stage) + a_block * block_bytes);
  const std::uint64_t b = tile_descriptor<b_major>(ring.b(stage));
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
      multiply<a_major, b_major>(In{}, sums.of[i],
                                 a + step * step_units<a_major> + i * (block_bytes >> 4),
                                 b + step * step_units<b_major>, add || step > 0);
    }
  }
  wgmma_commit_group();
}

/// Issues a stage's products of some columns of B's tile, both operands along k, to sums of their
/// own; commits them as one group.
template <class In, KernelConfig d, int Count>
__device__ inline void multiply_columns(const TileRing<d>& ring, int stage, int a_block, int column,
                                        std::uint32_t (&sums)[Count]) {
  const std::uint64_t a = tile_descriptor<Major::k>(ring.a(stage) + a_block * block_bytes);
  const std::uint64_t b =
      tile_descriptor<Major::k>(ring.b(stage) + column / block_side * block_bytes);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step)
    multiply<Major::k, Major::k>(In{}, sums, a + step * step_units<Major::k>,
                                 b + step * step_units<Major::k>, step > 0);
  wgmma_commit_group();
}

/// Tells every block that loads for this warp's block that the warp has read the stage.
template <KernelConfig d>
__device__ inline void release(const TileRing<d>& ring, int stage, const ClusterPlace<d>& place) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (d.sharing() == 1) {
    if (lane == 0) arrive(ring.empty(stage));
  } else {
    if (lane < d.sharing()) arrive_at(ring.empty(stage), place.sharer(lane));
  }
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
    multiply_stage<In, d, a_major, b_major>(ring, position.stage, a_block, sums, step > 0);
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
