#include "gemm/small_plan.h"

#include <algorithm>

namespace fathom::gemm {
namespace {

/// The fits are to 256 to 1024.
constexpr std::int64_t deepest = 2048;
/// They are to squares. C of so many times its columns or rows is a skinny product, which waits for
/// the memory bus, and for which the rungs before have tiles.
constexpr std::int64_t skinny = 8;

/// Most blocks that are sure to run at once where so many of them are a cluster. The SMs of a GPC
/// are no multiple of more than two: with a block an SM an H200 ran 36 clusters of three at once,
/// but not 16 of seven. What would not run at once takes twice as long, so that k is not shared
/// there.
std::int64_t most_at_once(const SmallTileTimes& tile, int parts, int sms) {
  return parts > 2 && tile.blocks_per_sm == 1 ? sms * 5 / 6 : sms;
}

}  // namespace

std::optional<SmallPlan> plan_small(const Problem& p, std::span<const SmallTileTimes> tiles,
                                    int sms) {
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.alpha == 0 || p.k > deepest) return std::nullopt;
  if (std::max(p.m, p.n) >= skinny * std::min(p.m, p.n)) return std::nullopt;
  std::optional<SmallPlan> best;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const SmallTileTimes& tile = tiles[i];
    if (tile.whole && (p.n < tile.m || p.m < tile.n)) continue;
    const std::int64_t blocks = ceil_div(p.n, tile.m) * ceil_div(p.m, tile.n),
                       stages = ceil_div(p.k, tile.k);
    for (int parts = 1; parts <= std::min<std::int64_t>(most_cluster_parts, stages); ++parts) {
      if (parts > 1 && blocks * parts > most_at_once(tile, parts, sms)) break;
      const auto on_busiest = static_cast<double>(ceil_div(blocks * parts, sms));
      if (on_busiest > tile.most_blocks) break;
      const auto of_a_block = static_cast<double>(ceil_div(stages, parts));
      double us = tile.around + of_a_block * (tile.stage + tile.block_stage * on_busiest);
      if (parts > 1) us += tile.meeting + tile.part * parts;
      if (!best || us < best->us) best = {static_cast<int>(i), parts, us};
    }
  }
  return best;
}

}  // namespace fathom::gemm
