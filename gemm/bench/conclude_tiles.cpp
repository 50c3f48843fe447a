// Claim T2: what a product pays whose size just passes a multiple of the tile.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gemm/bench/conclude_parts.h"
#include "gemm/bench/problem.h"
#include "gemm/bench/tile_sweep.h"
#include "results/format.h"
#include "results/query.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

/// Sizes this close stand for "just past": their own work differs by about half a percent.
constexpr double just_past = 32;
/// Jumps of the model below this would be lost in the noise of a curve.
constexpr double least_jump = 1.05;
/// A product pays for a step if what it takes jumps by at least this share of what the model says.
constexpr double paid_share = 0.5;

/// A step of the model between two neighbours, and what the product took there.
struct Jump {
  const Entry *before, *after;
  double model, measured;  ///< ratios of cycles, or of time

  double paid() const { return (measured - 1) / (model - 1); }
};

/// A type's jumps that say what tiles cost, and why others do not.
struct Jumps {
  std::vector<Jump> judged;
  std::size_t other_kernel = 0;    ///< so many more where the kernel changes with the size
  std::size_t unknown_kernel = 0;  ///< and where nobody could tell whether it does
  double largest_step = 1;       ///< of the model, whatever its size
};

Jumps jumps_of(const TileSweep& sweep) {
  Jumps jumps;
  for (std::size_t i = 1; i < sweep.entries().size(); ++i) {
    const Entry &before = *sweep.entries()[i - 1], &after = *sweep.entries()[i];
    if (swept_m(after) - swept_m(before) > just_past) continue;
    const double model = paid_flop(after) / paid_flop(before);
    jumps.largest_step = std::max(jumps.largest_step, model);
    if (model < least_jump) continue;
    if (same_kernel(before, after)) {
      jumps.judged.push_back({&before, &after, model, sweep.taken(after) / sweep.taken(before)});
    } else {
      ++(knows_kernel(before) && knows_kernel(after) ? jumps.other_kernel : jumps.unknown_kernel);
    }
  }
  return jumps;
}

/// The share of the model's jump that half of them exceed: a few that something else disturbed do
/// not decide.
double median_paid(const Jumps& jumps) {
  std::vector<double> paid;
  for (const Jump& jump : jumps.judged) paid.push_back(jump.paid());
  return median(paid);
}

std::size_t left_out(const Jumps& jumps) { return jumps.other_kernel + jumps.unknown_kernel; }

std::string cause(const Jumps& jumps) {
  if (jumps.unknown_kernel == 0) return "another kernel takes over";
  return jumps.other_kernel == 0 ? "the kernel is not known"
                                 : "another kernel takes over or the kernel is not known";
}

std::string why_left_out(const Jumps& jumps) {
  if (left_out(jumps) == 0) {
    return fmt::format("no jump of its model reaches {:.2f} x (the largest is {:.3f} x)",
                       least_jump, jumps.largest_step);
  }
  return fmt::format(
      "at {} {}",
      left_out(jumps) == 1 ? "its only jump" : fmt::format("all {} jumps", left_out(jumps)),
      cause(jumps));
}

std::string figure_of(const TileSweep& sweep, const Jumps& jumps) {
  const Jump& largest = *std::ranges::max_element(jumps.judged, {}, &Jump::model);
  std::string text = fmt::format(
      "pays {:.0f} % of the model's jump ({}; from m = {:.0f} to {:.0f} its {} {:.3f} x, what "
      "whole waves of whole tiles take {:.3f} x",
      100 * median_paid(jumps),
      jumps.judged.size() == 1 ? "one jump"
                               : fmt::format("the median of {} jumps", jumps.judged.size()),
      swept_m(*largest.before), swept_m(*largest.after),
      sweep.in_cycles() ? "cycles grow" : "time, for want of the clock, grows", largest.measured,
      largest.model);
  if (left_out(jumps) > 0)
    text += fmt::format("; {} more left out, where {}", left_out(jumps), cause(jumps));
  return text + fmt::format("); all {} sizes are within {} of that model", sweep.entries().size(),
                            format_percent(sweep.farthest()));
}

}  // namespace

Claim tile_claim(std::span<const Entry> entries) {
  Claim claim = make_claim(
      "T2",
      "Tile quantisation does the same to a matrix product whose size just passes a tile multiple",
      "sweep of m around multiples of the tile");
  bool all_pay = true;
  for (const ClassTraits& row : all_classes()) {
    const TileSweep sweep(entries, row.name);
    const Jumps jumps = jumps_of(sweep);
    if (left_out(jumps) == 0 && jumps.largest_step == 1) continue;  // no step to speak of
    claim.figure += fmt::format("{}{} ", claim.figure.empty() ? "" : "; ", row.name);
    if (jumps.judged.empty()) {
      claim.figure += "is left out: " + why_left_out(jumps);
      continue;
    }
    all_pay = all_pay && median_paid(jumps) >= paid_share;
    claim.figure += figure_of(sweep, jumps);
    const Jump& largest = *std::ranges::max_element(jumps.judged, {}, &Jump::model);
    claim.evidence.push_back(largest.before->name);
    claim.evidence.push_back(largest.after->name);
  }
  if (!claim.evidence.empty())
    claim.verdict = all_pay ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

}  // namespace fathom::gemm
