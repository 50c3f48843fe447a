#pragma once

#include <array>

#include "gemm/small_plan.h"

namespace fathom::gemm::half {

/// The tiles of rung 16 that mma.sync multiplies.
inline constexpr std::array<SmallTileTimes, 3> small_tiles{{
    {.m = 32,
     .n = 32,
     .k = 64,
     .blocks_per_sm = 4,
     .most_blocks = 5,
     .whole = false,
     .around = 1.2,
     .stage = 0.08,
     .block_stage = 0.10,
     .meeting = 0,
     .part = 0.3},
    {.m = 64,
     .n = 32,
     .k = 64,
     .blocks_per_sm = 3,
     .most_blocks = 4,
     .whole = false,
     .around = 1.44,
     .stage = 0.06,
     .block_stage = 0.16,
     .meeting = 0,
     .part = 0.3},
    {.m = 64,
     .n = 64,
     .k = 64,
     .blocks_per_sm = 2,
     .most_blocks = 5,
     .whole = false,
     .around = 2.1,
     .stage = 0.055,
     .block_stage = 0.205,
     .meeting = 0.2,
     .part = 0.1},
}};

/// How rung 16 does a product.
struct SmallChoice {
  enum class Kernel {
    before,  ///< as the rung before
    mma,     ///< by mma.sync, as planned
    brief,   ///< the copy engine's tiles, all at once
    waves,   ///< and those of 192 columns, which leave less of the last wave empty
  };
  Kernel kernel = Kernel::before;
  SmallPlan plan;   ///< of mma
  int columns = 0;  ///< of a brief tile
};

SmallChoice small_choice(const Problem& problem, int sms);

}  // namespace fathom::gemm::half
