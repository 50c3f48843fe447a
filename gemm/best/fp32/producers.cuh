#pragma once

#include "gemm/best/stream_k.h"
#include "gemm/best/fp32/warp_specialised_tile.cuh"
#include "gemm/blocks/box_transposition.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tma.cuh"

// Two ways to fill the ring of the warp-specialised product, both by TMA: what is outside of a
// matrix reads as zero. A producer has
//   transposes_a, transposes_b: the operands that it takes along k, not along their outer
//   dimension; arrivals: of one stage, at its full barrier; pad_a, pad_b: floats between a stage's
//   lines of A and of B; staging_bytes: shared memory of its own, behind the ring on 128 bytes;
//   produce(...): by all producer threads, fills stage after stage of the scheduler.

namespace fathom::gemm::fp32 {

/// What a producer reads: boxes of 32 of k by a tile's side, contiguous as the operand is.
struct OperandBoxes {
  CUtensorMap a, b;
};

/// TMA, told by one thread. Both operands lie along their outer dimension, and every line
/// starts on 16 bytes.
struct TmaProducer {
  static constexpr bool transposes_a = false, transposes_b = false;
  static constexpr int arrivals = 1, pad_a = 0, pad_b = 0;
  template <class Tile>
  static constexpr int staging_bytes = 0;

  template <class Tile, class Corner>
  static __device__ void produce(const OperandBoxes& from, const StageRing<Tile>& ring,
                                 StreamKScheduler& scheduler, Corner corner) {
    const bool tells = threadIdx.x == Tile::consumer_threads;
    FillOrder<Tile> order;
    while (!scheduler.done()) {
      const WorkPiece piece = scheduler.take();
      const TileIndex at = corner(piece.tile);
      for (int i = piece.first; i < piece.end; i += Tile::steps) {
        const int next = order.next();
        if (!tells) continue;
        const std::uint32_t stage = ring.stage(next), full = ring.full(next);
        arrive_expect_tx(full, Tile::stage_bytes);
        load_box(stage, from.a, at.m, i * Tile::step, full);
        load_box(stage + Tile::a_bytes, from.b, at.n, i * Tile::step, full);
      }
    }
    order.finish();
  }
};

/// TMA, and four warps that transpose in shared memory what it brings of operands along k; one
/// along its outer dimension it puts where it belongs, as ever. All lines and rows start on 16
/// bytes.
///
/// One staging buffer is enough: what it holds is transposed as soon as a stage is released, and
/// the next box has nearly a stage's multiplications of time to come. A second would cost a stage
/// of the ring.
template <bool TransposeA, bool TransposeB>
struct TransposingProducer {
  static_assert(TransposeA || TransposeB);
  static constexpr bool transposes_a = TransposeA, transposes_b = TransposeB;
  static constexpr int warps = 4;
  static constexpr int arrivals = 32 * warps + (TransposeA && TransposeB ? 0 : 1);
  static constexpr int pad_a = TransposeA ? transposed_line_pad : 0;
  static constexpr int pad_b = TransposeB ? transposed_line_pad : 0;

  /// Boxes as TMA brings them, rows of 32 of k, and the barrier that ends when they are full.
  template <class Tile>
  struct Staging {
    static_assert(Tile::k == transposed_box_depth);
    static constexpr int a_bytes = TransposeA ? Tile::m * Tile::k * 4 : 0;
    static constexpr int box_bytes = a_bytes + (TransposeB ? Tile::n * Tile::k * 4 : 0);
    std::uint32_t a, b, full;

    __device__ explicit Staging(const StageRing<Tile>& ring)
        : a(ring.behind()), b(a + a_bytes), full(a + box_bytes) {}
  };
  template <class Tile>
  static constexpr int staging_bytes = Staging<Tile>::box_bytes + 8;

  template <class Tile, class Corner>
  static __device__ void produce(const OperandBoxes& from, const StageRing<Tile>& ring,
                                 StreamKScheduler& scheduler, Corner corner) {
    const Staging<Tile> staging(ring);
    const int thread = static_cast<int>(threadIdx.x) - Tile::consumer_threads;
    const bool tells = thread == 0;
    if (tells) {
      barrier_init(staging.full, 1);
      barrier_init_fence();
    }
    StageRing<Tile>::producers_sync();
    const int warp = __shfl_sync(~0u, thread / 32, 0), lane = thread % 32;
    StageScheduler<Corner, TileIndex, Tile::steps> next(scheduler, corner);
    const auto fetch = [&] {
      if (!tells) return;
      arrive_expect_tx(staging.full, Staging<Tile>::box_bytes);
      const int k = next.step * Tile::step;
      if constexpr (TransposeA) load_box(staging.a, from.a, k, next.at.m, staging.full);
      if constexpr (TransposeB) load_box(staging.b, from.b, k, next.at.n, staging.full);
    };
    FillOrder<Tile> order;
    std::uint32_t parity = 0;
    bool more = next.next();
    if (more) fetch();
    while (more) {
      // First the hardware barrier, where most of the time is waited: when it ends, the box is
      // there.
      const int i = order.next();
      const std::uint32_t lines_a = ring.stage(i), lines_b = lines_a + Tile::a_bytes,
                          full = ring.full(i);
      if constexpr (!(TransposeA && TransposeB)) {
        if (tells) {
          const int k = next.step * Tile::step;
          arrive_expect_tx(full, TransposeA ? Tile::b_bytes : Tile::a_bytes);
          if constexpr (TransposeA) load_box(lines_b, from.b, next.at.n, k, full);
          if constexpr (TransposeB) load_box(lines_a, from.a, next.at.m, k, full);
        }
      }
      more = next.next();
      wait(staging.full, parity);
      parity ^= 1;
      if constexpr (TransposeA)
        transpose_rows<Tile::m / warps, Tile::pitch_a>(staging.a, lines_a, lane,
                                                       warp * (Tile::m / warps));
      if constexpr (TransposeB)
        transpose_rows<Tile::n / warps, Tile::pitch_b>(staging.b, lines_b, lane,
                                                       warp * (Tile::n / warps));
      // The stage's lines are stored and read by threads alone, so that arriving hands them over.
      // The engine writes only where threads read and never store: the staging buffer, once all
      // four warps have read it, and the other operand's lines, once they are released. Between
      // accesses of the two kinds barriers order reads before writes; a proxy fence would be for
      // what a thread stored and the engine then touches, and there is no such memory.
      arrive(full);
      StageRing<Tile>::producers_sync();
      if (more) fetch();
    }
    order.finish();
  }
};

}  // namespace fathom::gemm::fp32
