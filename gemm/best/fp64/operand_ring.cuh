#pragma once

#include "gemm/best/fp64/kernel_config.cuh"
#include "gemm/blocks/tma.cuh"

// The ring of stages in shared memory that TMA fills. A stage of an operand is, along
// k, a line of 16 k for each row of its tile, or else, along the outer dimension, a block of 2 KiB
// for every 16 of it: 16 lines of k. Word w (16 bytes) of line l lies at w ^ (l % 8).
//
// Either way it comes in two halves: lines of the tile's first half and of its second, or of a
// split operand the even lines and the odd ones.

namespace fathom::gemm::fp64 {

template <KernelConfig d>
struct Ring {
  std::uint32_t tiles;

  __device__ std::uint32_t a(int stage) const { return tiles + stage * d.stage_bytes(); }
  __device__ std::uint32_t b(int stage) const { return a(stage) + d.a_bytes(); }
  /// Ends when the stage's bytes have all arrived.
  __device__ std::uint32_t full(int stage) const {
    return tiles + d.stages * d.stage_bytes() + 8 * stage;
  }
  /// Ends when every warp that reads what this block loads has read it.
  __device__ std::uint32_t empty(int stage) const { return full(stage) + 8 * d.stages; }

  /// By one thread; the cluster must meet before anybody uses the ring.
  __device__ void init() const {
    for (int stage = 0; stage < d.stages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), d.warps() * d.cluster_n);
    }
    barrier_init_fence();
  }

  /// Whether the stage is full in this round already: asked early, the answer costs no time.
  __device__ bool is_full(const RingPosition<d.stages>& position) const {
    return has_ended(full(position.stage), position.parity);
  }

  /// Tells every block that loads for this warp's that the warp has read the stage.
  __device__ void release(int stage) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (d.cluster_n == 1) {
      if (lane == 0) arrive(empty(stage));
    } else {
      if (lane < d.cluster_n) arrive_at(empty(stage), lane);
    }
  }
};

/// A warp's place in the ring as addresses that move on with it, so that between products next to
/// nothing is left to compute.
template <KernelConfig d>
class RingCursor {
 public:
  __device__ explicit RingCursor(const Ring<d>& ring) : full_(ring.full(0)), empty_(ring.empty(0)) {
    if constexpr (d.cluster_n > 1) {
      asm volatile("mapa.shared::cluster.u32 %0, %0, %1;"
                   : "+r"(empty_)
                   : "r"(lane() % d.cluster_n));
    }
  }

  __device__ bool is_full() const { return has_ended(full_, position_.parity); }
  __device__ void wait_full() const { wait(full_, position_.parity); }
  /// Ring::release of the stage.
  __device__ void release() const {
    if constexpr (d.cluster_n == 1) {
      if (lane() == 0) arrive(empty_);
    } else {
      // As arrive_at, with the remote address precomputed.
      if (lane() < d.cluster_n) {
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(empty_)
                     : "memory");
      }
    }
  }
  /// Returns how many bytes further the next stage lies.
  __device__ int advance() {
    position_.advance();
    const bool wraps = position_.stage == 0;
    const int on = wraps ? -8 * (d.stages - 1) : 8;
    full_ += on, empty_ += on;
    return wraps ? -d.stage_bytes() * (d.stages - 1) : d.stage_bytes();
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  RingPosition<d.stages> position_;
  std::uint32_t full_;   ///< the stage's barriers
  std::uint32_t empty_;  ///< in the block of the lane's number
};

/// Lines of a box, of a tile of so many rows.
template <Major major>
__host__ __device__ constexpr int box_lines(int rows) {
  return major == Major::k ? rows / 2 : stage_depth / 2;
}

/// Loads half `half` of a tile of `Rows` x 16 of k to `target`: to this block, or where `blocks` is
/// not 0 to these of the cluster.
template <Major major, int Rows>
__device__ inline void load_half(std::uint32_t target, const OperandMaps& maps, int half, int outer,
                                 int k, std::uint32_t barrier, std::uint16_t blocks) {
  const CUtensorMap& map = maps.of[maps.split ? half : 0];
  const auto load = [&](std::uint32_t to, int x, int y) {
    if (blocks == 0) {
      load_box<false>(to, map, x, y, barrier, 0);
    } else {
      load_box_multicast<false>(to, map, x, y, barrier, blocks, 0);
    }
  };
  constexpr int lines = box_lines<major>(Rows);
  if constexpr (major == Major::k) {
    load(target + half * lines * line_bytes, k, maps.split ? outer / 2 : outer + half * lines);
  } else {
#pragma unroll
    for (int block = 0; block < Rows / 16; ++block) {
      load(target + (block * stage_depth + half * lines) * line_bytes, outer + block * 16,
           maps.split ? k / 2 : k + half * lines);
    }
  }
}

/// Fills a stage from row `row` of A and column `column` of B.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void load_stage(const DmmaProduct& p, const Ring<d>& ring, int stage, int rank,
                                  int row, int column, int k) {
  const std::uint32_t full = ring.full(stage);
  arrive_expect_tx(full, d.stage_bytes());
  load_half<b_major, d.n()>(ring.b(stage), p.b, 0, column, k, full, 0);
  load_half<b_major, d.n()>(ring.b(stage), p.b, 1, column, k, full, 0);
  if constexpr (d.cluster_n == 1) {
    load_half<a_major, d.m()>(ring.a(stage), p.a, 0, row, k, full, 0);
    load_half<a_major, d.m()>(ring.a(stage), p.a, 1, row, k, full, 0);
  } else {
    static_assert(d.cluster_n == 2, "each block loads one half of A's tile");
    load_half<a_major, d.m()>(ring.a(stage), p.a, rank, row, k, full, 3);
  }
}

}  // namespace fathom::gemm::fp64
