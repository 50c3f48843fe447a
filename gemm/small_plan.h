#pragma once

#include <optional>
#include <span>

#include "gemm/problem.h"

// Which tile a small product is cut into, and into how many parts its k. Row-major: m and n here
// are the problem's n and m.

namespace fathom::gemm {

/// Most blocks of a cluster that every GPU of compute capability 9.0 runs.
inline constexpr int most_cluster_parts = 8;

/// A tile, and the microseconds that it takes: fitted to what an H200 took of 256 to 1024 cubed
/// (docs/gemm/tuning-small.md).
struct SmallTileTimes {
  int m, n, k;         ///< of a block's tile; k of a stage
  int blocks_per_sm;   ///< that an SM has room for
  int most_blocks;     ///< of an SM, at once or in turn, for which the times hold
  bool whole;          ///< takes no product that is smaller than the tile
  double around;       ///< from a launch to the first product, and from the last to the next launch
  double stage;        ///< of a stage, however many blocks an SM has, ...
  double block_stage;  ///< ... and for each of them
  double meeting;      ///< where blocks share k
  double part;         ///< and for each of those
};

/// Whether a kernel's tile is this one.
template <class Tile>
constexpr bool is_tile(const SmallTileTimes& t) {
  return Tile::m == t.m && Tile::n == t.n && Tile::k == t.k &&
         Tile::blocks_per_sm == t.blocks_per_sm;
}

/// SMs of the H200, whose times those are: what is asked without naming a GPU is asked of it.
inline constexpr int planned_sms = 132;

/// Of another kernel's time: the estimates are as far off, most of them less.
inline constexpr double surely_sooner = 0.9;

struct SmallPlan {
  int tile = 0;   ///< its place among the tiles
  int parts = 1;  ///< of k
  double us = 0;  ///< estimated
};

/// The plan with the least estimated time; nothing where there is nothing to multiply, where k is
/// deeper or C is longer for its width than what the times were fitted to allows to say, or where no
/// tile takes the product or has times for as many blocks.
std::optional<SmallPlan> plan_small(const Problem& problem, std::span<const SmallTileTimes> tiles,
                                    int sms);

}  // namespace fathom::gemm
