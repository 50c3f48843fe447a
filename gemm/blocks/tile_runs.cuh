#pragma once

#include "gemm/blocks/tile_ring.cuh"

// Stages of a ring that are asked for together, so that what a row has of them, 128 bytes each, is
// read from memory as one run. For `Design::together`, which gemm/half/tuning alone sets.

namespace fathom::gemm {

/// Fills so many stages from `position` on, whose k follow each other, and leaves it behind them:
/// each block of A in all of them before the next. For operands that no other block shares.
template <class In, Design d, Major a_major, Major b_major>
__device__ inline void load_stages(const TileRing<d>& ring, RingPosition<d.stages>& position,
                                   int count, const CUtensorMap& map_a, const CUtensorMap& map_b,
                                   int row, int column, int k) {
  static_assert(d.sharing() == 1 && d.kept_a == 0 && !d.a_in_registers && !d.half_b);
  const int first = position.stage;
  const auto stage_of = [&](int i) {
    return first + i < d.stages ? first + i : first + i - d.stages;
  };
  for (int i = 0; i < count; ++i, position.advance()) {
    wait(ring.empty(position.stage), position.parity ^ 1);
    arrive_expecting(ring.full(position.stage), d.stage_bytes());
  }
  const auto load = [&]<Major major>(int tile, int blocks, const CUtensorMap& map, int outer) {
    for (int block = 0; block < blocks; ++block) {
      for (int i = 0; i < count; ++i) {
        const int stage = stage_of(i);
        load_block<major, 1, false>(ring.a(stage) + tile, block, map, outer,
                                    k + i * stage_depth<In>, ring.full(stage), 0, 0);
      }
    }
  };
  load.template operator()<a_major>(0, d.a_blocks(), map_a, row);
  load.template operator()<b_major>(d.a_blocks() * block_bytes, d.b_blocks(), map_b, column);
}

}  // namespace fathom::gemm
