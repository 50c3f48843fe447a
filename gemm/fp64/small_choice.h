#pragma once

#include <array>

#include "gemm/small_plan.h"

namespace fathom::gemm::fp64 {

/// The tiles of rung 09.
inline constexpr std::array<SmallTileTimes, 3> small_tiles{{
    {.m = 32,
     .n = 32,
     .k = 32,
     .blocks_per_sm = 3,
     .most_blocks = 5,
     .whole = false,
     .around = 0.8,
     .stage = 0.12,
     .block_stage = 0.17,
     .meeting = 0.5,
     .part = 0.4},
    {.m = 64,
     .n = 32,
     .k = 32,
     .blocks_per_sm = 2,
     .most_blocks = 4,
     .whole = false,
     .around = 1.1,
     .stage = 0.11,
     .block_stage = 0.305,
     .meeting = 0.5,
     .part = 0.5},
    {.m = 64,
     .n = 64,
     .k = 32,
     .blocks_per_sm = 1,
     .most_blocks = 5,
     .whole = false,
     .around = 2.3,
     .stage = 0.14,
     .block_stage = 0.54,
     .meeting = 1.8,
     .part = 0},
}};

/// How rung 09 does a product itself; nothing where the rung before is as soon done, or where lines
/// of an operand do not start on 16 bytes, which that rung copies first.
std::optional<SmallPlan> small_choice(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp64
