#pragma once

#include <optional>

#include "gemm/problem.h"

// Which tiles of 128 rows (gemm/blocks/brief_shapes.cuh) a product is cut into whose tiles all run
// at once, a block an SM, and which waves of tiles are fuller than those of 256 columns.

namespace fathom::gemm {

/// Most columns of a tile whose threads keep the registers that they begin with
/// (gemm/blocks/brief_block.cuh): it is a cluster of its own.
inline constexpr int most_narrow = 64;

struct BriefPlan {
  int columns = 0;  ///< of a tile
  double us = 0;    ///< estimated, of an H200
};

/// The width with the least estimated time; nothing where no width's tiles all run at once on so
/// many SMs, where m or n is for the skinny products' tiles, where there is nothing to multiply, or
/// where blocks that share k are done sooner.
std::optional<BriefPlan> brief_plan(const Problem& problem, int sms);

/// Whether tiles of 128 x 192 are done sooner than those of 128 x 256, by what their waves take
/// when each is full: at 3072 cubed three of 192 columns, where 288 tiles of 256 are three too.
bool waves_of_192_are_sooner(const Problem& problem, int sms);

}  // namespace fathom::gemm
