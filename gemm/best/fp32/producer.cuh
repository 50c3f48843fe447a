#pragma once

#include "gemm/best/fp32/warp_specialised_tile.cuh"
#include "gemm/best/stream_k.h"
#include "gemm/blocks/box_transposition.cuh"
#include "gemm/blocks/tma.cuh"

// How TMA fills the warp-specialised product's ring: what is outside of a matrix reads as zero.

namespace fathom::gemm::fp32 {

/// Behind the ring: boxes of operands along k, rows of 32 of k, and the barrier that they end.
template <class Tile>
struct Staging {
  static_assert(Tile::k == transposed_box_depth);
  static constexpr int a_bytes = Tile::transposes_a ? Tile::m * Tile::k * 4 : 0;
  static constexpr int box_bytes = a_bytes + (Tile::transposes_b ? Tile::n * Tile::k * 4 : 0);
  static constexpr int bytes = box_bytes == 0 ? 0 : box_bytes + 8;
  std::uint32_t a, b, full;

  __device__ explicit Staging(const StageRing<Tile>& ring)
      : a(ring.behind()), b(a + a_bytes), full(a + box_bytes) {}
};

/// By all producer threads: fills the scheduler's stages. One thread tells TMA, which puts an
/// operand along its outer dimension where it belongs; boxes of operands along k, four warps
/// transpose in shared memory. All lines and rows start on 16 bytes. One staging buffer is enough:
/// the next box has nearly a stage's time to come, and a second would cost a stage of the ring.
template <class Tile, class P, class Corner>
__device__ void produce(const P& p, const StageRing<Tile>& ring, StreamKScheduler& scheduler,
                        Corner corner) {
  constexpr bool transposes_a = Tile::transposes_a, transposes_b = Tile::transposes_b;
  constexpr bool transposes = transposes_a || transposes_b;
  constexpr int warps = Tile::producer_threads / 32;
  const Staging<Tile> staging(ring);
  const int thread = static_cast<int>(threadIdx.x) - Tile::consumer_threads;
  const bool tells = thread == 0;
  if constexpr (transposes) {
    if (tells) {
      barrier_init(staging.full, 1);
      barrier_init_fence();
    }
    StageRing<Tile>::producers_sync();
  }
  const int warp = __shfl_sync(~0u, thread / 32, 0), lane = thread % 32;
  StageScheduler<Corner, TileIndex, Tile::steps> next(scheduler, corner);
  const auto fetch = [&] {
    if (!transposes || !tells) return;
    arrive_expect_tx(staging.full, Staging<Tile>::box_bytes);
    const int k = next.step * Tile::step;
    if constexpr (transposes_a) load_box(staging.a, p.map_a, k, next.at.m, staging.full);
    if constexpr (transposes_b) load_box(staging.b, p.map_b, k, next.at.n, staging.full);
  };
  FillOrder<Tile> order;
  std::uint32_t parity = 0;
  bool more = next.next();
  if (more) fetch();
  while (more) {
    // Most of the time is waited at the hardware barrier: when that ends, the box is there.
    const int i = order.next();
    const std::uint32_t lines_a = ring.stage(i), lines_b = lines_a + Tile::a_bytes,
                        full = ring.full(i);
    if constexpr (!(transposes_a && transposes_b)) {
      if (tells) {
        const int k = next.step * Tile::step;
        arrive_expect_tx(full,
                         (transposes_a ? 0 : Tile::a_bytes) + (transposes_b ? 0 : Tile::b_bytes));
        if constexpr (!transposes_a) load_box(lines_a, p.map_a, next.at.m, k, full);
        if constexpr (!transposes_b) load_box(lines_b, p.map_b, next.at.n, k, full);
      }
    }
    more = next.next();
    if constexpr (!transposes) continue;
    wait(staging.full, parity);
    parity ^= 1;
    if constexpr (transposes_a)
      transpose_rows<Tile::m / warps, Tile::pitch_a>(staging.a, lines_a, lane,
                                                     warp * (Tile::m / warps));
    if constexpr (transposes_b)
      transpose_rows<Tile::n / warps, Tile::pitch_b>(staging.b, lines_b, lane,
                                                     warp * (Tile::n / warps));
    // Threads alone store and read the stage's lines, so that arriving hands them over. TMA writes
    // only where threads read and never store, behind a barrier: a proxy fence would be for what
    // a thread stored and TMA then touches, and there is no such memory.
    arrive(full);
    StageRing<Tile>::producers_sync();
    if (more) fetch();
  }
  order.finish();
}

}  // namespace fathom::gemm::fp32
