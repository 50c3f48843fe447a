#include "gemm/best/fp32_3xtf32/split_plan.h"

#include <algorithm>
#include <iterator>

#include "gemm/bench/problem.h"
#include "gemm/blocks/tensor_map.h"

namespace fathom::gemm::fp32_3xtf32 {
namespace {

/// A product is skinny where one operand is so many times the other's size.
constexpr std::int64_t skinny_ratio = 8;

/// Lower is better to split before the product.
int effort(const TmaOperand& x, const TmaOperand& other) {
  int effort = 0;
  if (x.outer > skinny_ratio * other.outer) effort += 4;
  if (columns_aligned(x.stride, x.element, map_alignment)) effort += 2;
  if (x.major != Major::k) effort += 1;
  return effort;
}

}  // namespace

SplitChoice choose_operands(const Arguments& arguments) {
  // In row-major terms: `a` is BLAS's B and `b` is BLAS's A.
  const TmaOperands plain = TmaOperands::of(arguments);
  // Equal effort: the product in row-major terms, whose C is contiguous along its columns.
  if (effort(plain.b, plain.a) <= effort(plain.a, plain.b)) return {plain.a, plain.b, false};
  return {plain.b, plain.a, true};
}

std::size_t plane_bytes(const TmaOperand& second, int columns) {
  return workspace_part(tf32_planes(second, columns).bytes());
}

std::size_t split_workspace_bytes(const Problem& problem, int columns) {
  const SplitChoice choice = choose_operands({problem});
  return plane_bytes(choice.second, columns) + copy_bytes(choice.first, std::nullopt);
}

namespace {

constexpr std::int64_t tile_rows = 128, stage_k = 32;

/// Clocks of a stage. Three products of 128 rows, at 1024 multiply-adds of tf32 a clock; narrow
/// tiles wait for each other's loads and take 15 % longer (128 x 64 against 128 x 128 at 4096 cubed
/// on an H200: 119 against 137 TFLOP/s). No less than an SM's share of the bus takes for 16
/// KiB, 4.6 TB/s over 132 SMs at 1.8 GHz.
double stage_clocks(const SplitTile& tile) {
  constexpr double least = 850, narrow = 1.15;
  const double clocks = 3.0 * tile_rows * tile.columns * stage_k / 1024;
  return std::max(least, tile.columns < 128 ? clocks * narrow : clocks);
}

/// Clocks beside the stages of so many waves: to fill the ring and to store a tile, and more where
/// blocks add their sums. Each wave of those after the first costs more than that explains, 15 to
/// 24 thousand in the recorded times of products of 3, 9, 13 and 15 such waves, where a clock of
/// this model is 0.60 ns in those of whole tiles (docs/gemm/tuning.md).
double other_clocks(const SplitTile& tile, std::int64_t waves) {
  constexpr double whole = 3000, shared = 8000, later_shared = 19000;
  const auto n = static_cast<double>(waves);
  return tile.split_k > 1 ? shared + (n - 1) * later_shared : n * whole;
}

}  // namespace

int best_tile(std::int64_t rows, std::int64_t columns, std::int64_t k, int sms) {
  int best = 0;
  double least = 0;
  for (int i = 0; i < static_cast<int>(std::size(split_tiles)); ++i) {
    const SplitTile& tile = split_tiles[i];
    const std::int64_t blocks =
        ceil_div(rows, tile_rows) * ceil_div(columns, tile.columns) * tile.split_k;
    const double stages = static_cast<double>(ceil_div(ceil_div(k, stage_k), tile.split_k));
    const std::int64_t waves = ceil_div(blocks, sms);
    const double clocks =
        static_cast<double>(waves) * stages * stage_clocks(tile) + other_clocks(tile, waves);
    if (i > 0 && clocks >= least) continue;
    best = i;
    least = clocks;
  }
  return best;
}

}  // namespace fathom::gemm::fp32_3xtf32
