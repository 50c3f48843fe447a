#include "gemm/brief_plan.h"

#include <algorithm>

#include "gemm/engine_plan.h"

namespace fathom::gemm {
namespace {

constexpr std::int64_t tile_rows = 128;
/// Of k in a stage: lines of 128 bytes.
constexpr std::int64_t stage_bytes = 128;
/// Bytes that an SM takes in a clock: 24 KiB of a stage of 128 x 64 arrived every 400 clocks.
constexpr int bytes_a_clock = 64;
/// The tensor cores' clocks for a column of a stage, of 128 rows (models/instruction_throughput.h).
constexpr int clocks_of_a_column = 4;
/// From a launch to the first products and from the last to the next launch, and what a column adds
/// to it: fitted to 1024 to 2048 cubed of bf16 and fp8.
constexpr double around = 2000, around_a_column = 26;
/// Tiles of `most_narrow` columns and fewer take 2100 to 2900 whatever their width, by 512 to 1024
/// cubed.
constexpr double around_narrow = 2550;
constexpr double clocks_of_a_us = 1780;
/// Two blocks of 128 x 128 that share k (gemm/engine_plan.cpp).
constexpr double around_shared = 8000;
constexpr std::int64_t shared_columns = 128, sharing = 2;

std::int64_t rounded_up(std::int64_t a, std::int64_t to) { return ceil_div(a, to) * to; }

/// Tiles of a width. Row-major: C's rows are the problem's n.
std::int64_t tiles(const Problem& p, std::int64_t columns) {
  return ceil_div(p.n, tile_rows) * ceil_div(p.m, columns);
}

/// Blocks of a width, whole clusters of which there are: those of gemm/blocks/brief_shapes.cuh.
std::int64_t blocks(const Problem& p, std::int64_t columns, bool half) {
  const bool below = columns == 160 && half, beside = columns > most_narrow && !below;
  return rounded_up(ceil_div(p.n, tile_rows), below ? 2 : 1) *
         rounded_up(ceil_div(p.m, columns), beside ? 2 : 1);
}

std::int64_t stages_of(const Problem& p) {
  return ceil_div(p.k * element_bytes(traits(p.of).input), stage_bytes);
}

double clocks_around(std::int64_t columns) {
  return columns <= most_narrow ? around_narrow
                                : around + around_a_column * static_cast<double>(columns);
}

double clocks_of_a_stage(std::int64_t columns, std::int64_t loaded) {
  return static_cast<double>(
      std::max((tile_rows + loaded) * stage_bytes / bytes_a_clock, columns * clocks_of_a_column));
}

}  // namespace

std::optional<BriefPlan> brief_plan(const Problem& p, int sms) {
  const bool nothing = p.m == 0 || p.n == 0 || p.k == 0 || p.alpha == 0;
  if (nothing || is_skinny(p)) return std::nullopt;
  const bool bytes = element_bytes(traits(p.of).input) == 1;
  const auto stages = static_cast<double>(stages_of(p));
  double least = 0;
  int columns = 0;
  for (const int width : {16, 64, 128, 160, 192}) {
    // 16-bit types have tiles by mma.sync for what is as small.
    if (width == 16 && !bytes) continue;
    if (blocks(p, width, !bytes) > sms) continue;
    // 8-bit types come in boxes of 32 columns, others of 64.
    const double clocks = stages * clocks_of_a_stage(width, rounded_up(width, bytes ? 32 : 64)) +
                          clocks_around(width);
    if (columns == 0 || clocks < least) {
      least = clocks;
      columns = width;
    }
  }
  if (columns == 0) return std::nullopt;
  if (tiles(p, shared_columns) * sharing <= sms) {
    const double shared = stages / sharing * clocks_of_a_stage(shared_columns, shared_columns);
    if (shared + around_shared < least) return std::nullopt;
  }
  return BriefPlan{columns, least / clocks_of_a_us};
}

bool waves_of_192_are_sooner(const Problem& p, int sms) {
  constexpr std::int64_t wide = 256, narrow = 192;
  /// A narrow tile reads more for each product, and was timed where it has 0.75 of the columns.
  constexpr double surely = 0.85;
  if (is_skinny(p)) return false;
  const auto columns = [&](std::int64_t width) {
    return static_cast<double>(ceil_div(tiles(p, width), sms) * width);
  };
  return tiles(p, wide) > sms && columns(narrow) < surely * columns(wide);
}

}  // namespace fathom::gemm
