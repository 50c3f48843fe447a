// Claim T2: what a product pays whose size just passes a multiple of the tile.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gemm/conclude_parts.h"
#include "gemm/problem.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// Sizes this close stand for "just past": their own work differs by about half a percent.
constexpr double just_past = 32;
/// Jumps of the model below this would be lost in the noise of a curve.
constexpr double least_jump = 1.05;
/// A product pays for a step if its time jumps by at least this share of what the model says.
constexpr double paid_share = 0.5;

/// A step of the model between two neighbours, and what the time did there.
struct Jump {
  const Entry *before, *after;
  double model, measured;  ///< ratios of time
};

std::vector<Jump> jumps_of(const TileSweep& sweep) {
  std::vector<Jump> jumps;
  for (std::size_t i = 1; i < sweep.entries.size(); ++i) {
    const Entry &before = *sweep.entries[i - 1], &after = *sweep.entries[i];
    const double model = paid_flop(after) / paid_flop(before);
    if (swept_m(after) - swept_m(before) > just_past || model < least_jump) continue;
    jumps.push_back({&before, &after, model, after.real_time_s / before.real_time_s});
  }
  return jumps;
}

/// Largest relative distance of a time from the model's.
double farthest(const TileSweep& sweep) {
  double most = 0;
  for (const Entry* entry : sweep.entries) {
    most = std::max(most, std::abs(entry->real_time_s / (paid_flop(*entry) * sweep.seconds_per_flop) - 1));
  }
  return most;
}

}  // namespace

Claim tile_claim(std::span<const Entry> entries) {
  Claim claim = make_claim("T2",
                           "Tile quantisation does the same to a matrix product whose size just passes a tile "
                           "multiple",
                           "sweep of m around multiples of the tile");
  bool all_pay = true;
  for (const ClassTraits& row : all_classes()) {
    const TileSweep sweep = tile_sweep(entries, row.name);
    const std::vector<Jump> jumps = jumps_of(sweep);
    if (jumps.empty()) continue;
    double paid = 0;
    for (const Jump& jump : jumps) paid += (jump.measured - 1) / (jump.model - 1) / double(jumps.size());
    all_pay = all_pay && paid >= paid_share;
    const Jump& largest = *std::ranges::max_element(jumps, {}, &Jump::model);
    claim.figure += fmt::format(
        "{}{}: from m = {:.0f} to {:.0f} the time grows {:.3f} x where whole waves of whole tiles grow {:.3f} x; all "
        "{} sizes are within {} of that model",
        claim.figure.empty() ? "" : "; ", row.name, swept_m(*largest.before), swept_m(*largest.after),
        largest.measured, largest.model, sweep.entries.size(), format_percent(farthest(sweep)));
    claim.evidence.push_back(largest.before->name);
    claim.evidence.push_back(largest.after->name);
  }
  if (!claim.evidence.empty()) claim.verdict = all_pay ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

}  // namespace fathom::gemm
