#include "gemm/half/small_choice.h"

#include <algorithm>

#include "gemm/engine_operands.h"

namespace fathom::gemm::half {
namespace {

/// The least that the rung before took of any cube, of 256, on an H200.
constexpr double least_us_before = 6.25;
/// What pairs of 128 x 64 took in one wave: 4.9, 6.6 and 7.8 us of 512, 768 and 1024 cubed.
constexpr double us_around_halves = 1.9, us_of_a_stage_of_halves = 0.37;
/// The largest that was measured of the engine's tiles.
constexpr std::int64_t largest_measured = 1536;
/// Fewer rows or columns are skinny products, for which the rung before has tiles.
constexpr std::int64_t most_skinny = 128;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Whether tiles of 128 rows and so many columns, in clusters of two below or beside each other,
/// all run at once. Row-major: C's rows are the problem's n.
bool one_wave(const Problem& p, std::int64_t rows, std::int64_t columns, int sms) {
  constexpr std::int64_t cluster = 2;
  return ceil_div(p.n, rows) * ceil_div(p.m, columns) * cluster <= sms;
}

}  // namespace

SmallChoice small_choice(const Problem& p, int sms) {
  if (EngineOperands::copy_bytes(p, MajorsTaken{}) != 0) return {};
  if (p.flops() == 0 || p.alpha == 0) return {};
  const auto plan = plan_small(p, small_tiles, sms);
  const bool engine_tiles =
      std::min(p.m, p.n) > most_skinny && std::max({p.m, p.n, p.k}) <= largest_measured;
  const bool halves = engine_tiles && one_wave(p, 128, 2 * 64, sms);
  const double us_of_halves =
      us_around_halves +
      us_of_a_stage_of_halves * static_cast<double>(ceil_div(p.k, small_tiles[0].k));
  if (plan && plan->us < least_us_before && !(halves && us_of_halves < plan->us))
    return {SmallChoice::Kernel::mma, *plan};
  if (halves) return {SmallChoice::Kernel::halves, {}};
  // Where even these would not all run at once, the wider ones of the rung before are no slower.
  const bool plain = p.transa == Transpose::no && p.transb == Transpose::no;
  if (engine_tiles && plain && one_wave(p, 2 * 128, 160, sms))
    return {SmallChoice::Kernel::columns160, {}};
  return {};
}

}  // namespace fathom::gemm::half
