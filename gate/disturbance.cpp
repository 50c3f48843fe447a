#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gate/confirmation.h"
#include "gate/rank_statistics.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

constexpr double limit = 0.01;
constexpr std::size_t enough = 5;

double mid_hinge(const std::vector<double>& values) {
  return (quantile(values, 0.25) + quantile(values, 0.75)) / 2;
}

/// How far apart two things are that should not be, and how far noise puts them, relative.
struct Sign {
  double apart = 0, noise = limit;
  /// So many standard deviations are no noise: of some dozens of rounds one may be the farthest.
  Sign(double apart, const std::vector<double>& deviations)
      : apart(apart), noise(std::max(limit, 4 * median(deviations))) {}
  Sign() = default;
  double ratio() const { return apart / noise; }
};

/// The largest difference between two rounds of one side. What noise makes of it: a mid-hinge of m
/// values has 1.11 of their spread over root m, and two of them differ by twice that at most.
Sign spread_of_rounds(const std::vector<MetricSeries>& series) {
  Sign found;
  for (const auto side : {&OrientedSamples::base, &OrientedSamples::head}) {
    std::vector<std::vector<double>> by_round;
    for (const MetricSeries& metric : series) {
      const OrientedSamples samples = oriented(metric);
      const std::vector<double>& values = samples.*side;
      if (!samples.relative || values.size() < 2) continue;
      const double centre = median(values);
      by_round.resize(std::max(by_round.size(), values.size()));
      for (std::size_t round = 0; round < values.size(); ++round)
        by_round[round].push_back(values[round] - centre);
    }
    std::vector<double> shifts, noise;
    for (const auto& deviations : by_round) {
      if (deviations.size() < enough) continue;
      shifts.push_back(mid_hinge(deviations));
      noise.push_back(2 * 1.11 * robust_spread(deviations) /
                      std::sqrt(static_cast<double>(deviations.size())));
    }
    if (shifts.size() < 2) continue;
    const auto [low, high] = std::ranges::minmax(shifts);
    if (const Sign sign(high - low, noise); sign.ratio() > found.ratio()) found = sign;
  }
  return found;
}

/// How far apart the two sides are in at least two metrics, in one direction: over all rounds of a
/// side noise is small, and it is not in two of a few metrics at once.
Sign shift_of_sides(const std::vector<MetricSeries>& steady) {
  std::vector<double> shifts, noise;
  for (const MetricSeries& metric : steady) {
    const OrientedSamples values = oriented(metric);
    if (!values.relative || values.base.empty() || values.head.empty()) continue;
    shifts.push_back(shift_of(values.base, values.head).estimate);
    noise.push_back(values.noise_floor());
  }
  if (shifts.size() < enough) return {};
  std::ranges::sort(shifts);
  return {std::max({shifts[shifts.size() - 2], -shifts[1], 0.0}), noise};
}

}  // namespace

std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series,
                           const Rounds* before) {
  const auto each = [](const Rounds& some, auto use) {
    std::ranges::for_each(some.base, use);
    std::ranges::for_each(some.head, use);
  };
  std::optional<double> fewest;  // other processes
  for (const Rounds* some : {&rounds, before ? before : &rounds})
    each(*some, [&](const RunMetrics& run) {
      if (run.other_processes && (!fewest || run.other_processes < fewest))
        fewest = run.other_processes;
    });
  std::size_t visited = 0, unsteady = 0;
  double worst = 0;
  each(rounds, [&](const RunMetrics& run) {
    visited += run.other_processes > fewest;
    unsteady += run.unsteadiness.value_or(0) > limit;
    worst = std::max(worst, run.unsteadiness.value_or(0));
  });
  const std::size_t all = rounds.base.size() + rounds.head.size();
  if (visited > 0)
    return fmt::format("another process used the GPU during {} of {} rounds", visited, all);
  if (unsteady > 0)
    return fmt::format(
        "in {} of {} rounds what one process measured several times differed by up to {} in the "
        "median",
        unsteady, all, format_percent(worst));
  const Sign spread = spread_of_rounds(series), shift = before ? shift_of_sides(series) : Sign();
  const bool of_rounds = spread.ratio() >= shift.ratio();
  const Sign& sign = of_rounds ? spread : shift;
  if (sign.ratio() <= 1) return {};
  return fmt::format("{} differ by {} over {}", of_rounds ? "the rounds of one side" : "the sides",
                     format_percent(sign.apart),
                     before ? "the metrics that had not changed" : "all metrics");
}

}  // namespace fathom::gate
