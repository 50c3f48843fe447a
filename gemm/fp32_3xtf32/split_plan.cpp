#include "gemm/fp32_3xtf32/split_plan.h"

#include <algorithm>
#include <iterator>

namespace fathom::gemm::fp32_3xtf32 {
namespace {

constexpr std::int64_t tile_rows = 128, stage_k = 32;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Clocks of a stage. Three products of 128 rows, at 1024 multiply-adds of tf32 a clock; narrow tiles
/// wait for each other's loads and take 15 % longer (128 x 64 against 128 x 128 at 4096 cubed on an
/// H200: 119 against 137 TFLOP/s). No less than an SM's share of the bus takes for 16 KiB, 4.6 TB/s
/// over 132 SMs at 1.8 GHz.
double stage_clocks(const SplitTile& tile) {
  constexpr double least = 850, narrow = 1.15;
  const double clocks = 3.0 * tile_rows * tile.columns * stage_k / 1024;
  return std::max(least, tile.columns < 128 ? clocks * narrow : clocks);
}

/// Clocks to fill the ring and to store a tile, and more where blocks add their sums.
double other_clocks(const SplitTile& tile) { return tile.split_k > 1 ? 8000 : 3000; }

}  // namespace

int best_tile(std::int64_t rows, std::int64_t columns, std::int64_t k, int sms) {
  int best = 0;
  double least = 0;
  for (int i = 0; i < static_cast<int>(std::size(split_tiles)); ++i) {
    const SplitTile& tile = split_tiles[i];
    const std::int64_t blocks =
        ceil_div(rows, tile_rows) * ceil_div(columns, tile.columns) * tile.split_k;
    const double stages = static_cast<double>(ceil_div(ceil_div(k, stage_k), tile.split_k));
    const double clocks = static_cast<double>(ceil_div(blocks, sms)) *
                          (stages * stage_clocks(tile) + other_clocks(tile));
    if (i > 0 && clocks >= least) continue;
    best = i;
    least = clocks;
  }
  return best;
}

}  // namespace fathom::gemm::fp32_3xtf32
