#pragma once

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/tma.cuh"
#include "gemm/blocks/wgmma.cuh"
#include "gemm/blocks/wgmma_other_types.cuh"

// A ring of tile pairs in shared memory: the copy engine fills it, warpgroups multiply from it.

namespace fathom::gemm {

/// How a kernel cuts a product C (m x n) = A (m x k) B (k x n), in row-major terms
/// (gemm/problem.h).
struct Design {
  int consumers = 2;  ///< warpgroups that multiply
  int m_blocks = 1;   ///< blocks of 64 rows of each
  int n = 256;        ///< columns of a block's tile
  int stages = 4;     ///< of the ring
  int cluster_m = 1;  ///< blocks of a cluster one below the other: they load each tile of B once
  int split_k = 1;    ///< blocks of a cluster that share the k of one tile
  int band = 8;       ///< cluster rows that are gone through column by column
  bool persistent =
      false;  ///< as many blocks as the GPU holds, from tile to tile; else a block a tile
  bool engine_stores = false;  ///< C leaves through shared memory and the copy engine
  bool a_in_registers =
      false;  ///< A's blocks come to the products through registers (register_product.cuh)
  bool promoted = false;  ///< each stage's sums are added up outside the tensor cores

  __host__ __device__ constexpr int m() const { return 64 * m_blocks * consumers; }
  __host__ __device__ constexpr int cluster() const { return cluster_m * split_k; }
  __host__ __device__ constexpr int threads() const { return 128 * (consumers + 1); }
  __host__ __device__ constexpr int a_blocks() const { return m() / block_side; }
  __host__ __device__ constexpr int b_blocks() const { return (n + block_side - 1) / block_side; }
  __host__ __device__ constexpr int stage_bytes() const {
    return (a_blocks() + b_blocks()) * block_bytes;
  }
};

/// Lines of 128 bytes are the unit of k: so many elements.
template <class In>
inline constexpr int stage_depth = 128 / static_cast<int>(sizeof(In));

/// The ring's memory and barriers, all of them shared-memory addresses.
template <Design d>
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
template <Design d>
struct ClusterPlace {
  int rank, m, k;
  __device__ ClusterPlace() : rank(d.cluster() == 1 ? 0 : static_cast<int>(cluster_rank())) {
    m = rank % d.cluster_m;
    k = rank / d.cluster_m;
  }
  /// Rank of the block that is `other` below the first of those that share this one's tiles of B.
  __device__ int beside(int other) const { return k * d.cluster_m + other; }
};

/// Loads block `block` of an operand's tile whose first outer index is `outer`, at `k`.
template <Major major>
__device__ inline void load_block(std::uint32_t tile, int block, const CUtensorMap& map, int outer,
                                  int k, std::uint32_t barrier) {
  const int o = outer + block * block_side;
  load_box(tile + block * block_bytes, map, major == Major::k ? k : o, major == Major::k ? o : k,
           barrier);
}

inline constexpr int half_block_side = 32, half_block_bytes = block_bytes / 2;

/// The same of 32-bit elements along the outer dimension: two boxes of 32 lines of k, 32 elements
/// each.
__device__ inline void load_split_block(std::uint32_t tile, int block, const CUtensorMap& map,
                                        int outer, int k, std::uint32_t barrier) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    load_box(tile + block * block_bytes + half * half_block_bytes, map,
             outer + block * block_side + half * half_block_side, k, barrier);
  }
}

/// Fills one stage: this block's A, and of the tile of B, which all of `cluster_m` need, its share
/// for all of them.
template <Design d, Major a_major, Major b_major>
__device__ inline void load_stage(const TileRing<d>& ring, int stage, const ClusterPlace<d>& place,
                                  const CUtensorMap& map_a, const CUtensorMap& map_b, int row,
                                  int column, int k) {
  const std::uint32_t full = ring.full(stage);
  arrive_expecting(full, d.stage_bytes());
#pragma unroll
  for (int block = 0; block < d.a_blocks(); ++block) {
    if constexpr (d.a_in_registers && a_major == Major::outer) {
      load_split_block(ring.a(stage), block, map_a, row, k, full);
    } else {
      load_block<a_major>(ring.a(stage), block, map_a, row, k, full);
    }
  }
  if constexpr (d.cluster_m == 1) {
#pragma unroll
    for (int block = 0; block < d.b_blocks(); ++block)
      load_block<b_major>(ring.b(stage), block, map_b, column, k, full);
  } else {
    constexpr int share = d.b_blocks() / d.cluster_m;
    static_assert(share * d.cluster_m == d.b_blocks());
    const auto blocks = static_cast<std::uint16_t>(((1 << d.cluster_m) - 1) << place.beside(0));
#pragma unroll
    for (int i = 0; i < share; ++i) {
      const int block = place.m * share + i;
      const int o = column + block * block_side;
      load_box_multicast(ring.b(stage) + block * block_bytes, map_b, b_major == Major::k ? k : o,
                         b_major == Major::k ? o : k, full, blocks);
    }
  }
}

/// Sums of one warpgroup: of each of its blocks of 64 rows, N columns (gemm/blocks/warp_tile.cuh).
template <Design d>
struct Sums {
  std::uint32_t of[d.m_blocks][d.n / 2];
};

/// Gives the sums' registers a value that the compiler cannot know: it would set a known one just
/// before the first product reads it, between products that are under way, and they would have to
/// wait for each other.
template <Design d>
__device__ inline void start(Sums<d>& sums) {
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
    for (std::uint32_t& sum : sums.of[i]) sum = 0;
    sums_are_ready(sums.of[i]);
  }
}

/// Issues the products of one stage for the warpgroup whose first block of A is `a_block`; commits
/// them as one group.
template <class In, Design d, Major a_major, Major b_major>
__device__ inline void multiply_stage(const TileRing<d>& ring, int stage, int a_block,
                                      Sums<d>& sums, bool add) {
  const std::uint64_t a = tile_descriptor<a_major>(ring.a(stage) + a_block * block_bytes);
  const std::uint64_t b = tile_descriptor<b_major>(ring.b(stage));
  products_begin();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
      multiply<a_major, b_major>(In{}, sums.of[i],
                                 a + step * step_units<a_major> + i * (block_bytes >> 4),
                                 b + step * step_units<b_major>, add || step > 0);
    }
  }
  products_commit();
}

/// Tells every block that loads for this warp's block that the warp has read the stage.
template <Design d>
__device__ inline void release(const TileRing<d>& ring, int stage, const ClusterPlace<d>& place) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (d.cluster_m == 1) {
    if (lane == 0) arrive(ring.empty(stage));
  } else {
    if (lane < d.cluster_m) arrive_at(ring.empty(stage), place.beside(lane));
  }
}

/// Multiplies `steps` stages from `position` on and leaves it behind them. The group of one stage
/// is under way while the next is issued.
template <class In, Design d, Major a_major, Major b_major>
__device__ inline void accumulate(const TileRing<d>& ring, RingPosition<d.stages>& position,
                                  int steps, int a_block, const ClusterPlace<d>& place,
                                  Sums<d>& sums) {
  int last = -1;
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
    multiply_stage<In, d, a_major, b_major>(ring, position.stage, a_block, sums, step > 0);
    products_wait<1>();
    if (last >= 0) release(ring, last, place);
    last = position.stage;
    position.advance();
  }
  products_wait<0>();
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) sums_are_ready(sums.of[i]);
  if (last >= 0) release(ring, last, place);
}

/// The same with each stage's sums of its own, added up in fp32 by the threads: the tensor cores
/// keep fewer bits of fp8 products that they accumulate. A stage is 128 of k then.
template <class In, Design d, Major a_major, Major b_major>
__device__ inline void accumulate_promoted(const TileRing<d>& ring,
                                           RingPosition<d.stages>& position, int steps, int a_block,
                                           const ClusterPlace<d>& place, Sums<d>& sums) {
  Sums<d> stage_sums;
  start(stage_sums);
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
    for (std::uint32_t& sum : sums.of[i]) sum = 0;
  }
  for (int step = 0; step < steps; ++step) {
    wait(ring.full(position.stage), position.parity);
    multiply_stage<In, d, a_major, b_major>(ring, position.stage, a_block, stage_sums, false);
    products_wait<0>();
    release(ring, position.stage, place);
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
      sums_are_ready(stage_sums.of[i]);
#pragma unroll
      for (int j = 0; j < d.n / 2; ++j) {
        sums.of[i][j] =
            __float_as_uint(__uint_as_float(sums.of[i][j]) + __uint_as_float(stage_sums.of[i][j]));
      }
    }
    position.advance();
  }
}

}  // namespace fathom::gemm
