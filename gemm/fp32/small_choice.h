#pragma once

#include <array>

#include "gemm/small_plan.h"

namespace fathom::gemm::fp32 {

/// The tiles of rung 27. Four blocks of the first took turns on an SM, as if it had room for fewer.
inline constexpr std::array<SmallTileTimes, 2> small_tiles{{
    {.m = 32,
     .n = 64,
     .k = 16,
     .blocks_per_sm = 4,
     .most_blocks = 3,
     .whole = true,
     .around = 1.0,
     .stage = 0.07,
     .block_stage = 0.205,
     .meeting = 0.4,
     .part = 0.35},
    {.m = 128,
     .n = 128,
     .k = 16,
     .blocks_per_sm = 1,
     .most_blocks = 2,
     .whole = true,
     .around = 2.1,
     .stage = 0,
     .block_stage = 1.52,
     .meeting = 2.2,
     .part = 0},
}};

/// How rung 27 does a product itself; nothing where the rung before is as soon done.
std::optional<SmallPlan> small_choice(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
