#include "gate/disturbance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

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
  double ratio() const { return apart / noise; }
  bool shows() const { return apart > noise; }
};

/// So many standard deviations are no noise: of some dozens of rounds one may be the farthest.
constexpr double beyond_noise = 4;

/// The largest difference between two rounds of one side. What noise makes of it: a mid-hinge of m
/// values has 1.11 of their spread over root m, and two of them differ by twice that at most.
Sign spread_of_rounds(const std::vector<MetricSeries>& series) {
  Sign found;
  for (const bool head : {false, true}) {
    std::vector<std::vector<double>> by_round;
    for (const MetricSeries& metric : series) {
      const Badness values = badness_of(metric);
      const std::vector<double>& side = head ? values.head : values.base;
      if (!values.relative || side.size() < 2) continue;
      const double centre = median(side);
      by_round.resize(std::max(by_round.size(), side.size()));
      for (std::size_t round = 0; round < side.size(); ++round)
        by_round[round].push_back(side[round] - centre);
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
    const Sign side{high - low, std::max(limit, beyond_noise * median(noise))};
    if (side.ratio() > found.ratio()) found = side;
  }
  return found;
}

/// How far apart the two sides are in at least two metrics, in one direction: over all rounds of a
/// side noise is small, and it is not in two of a few metrics at once.
Sign shift_of_sides(const std::vector<MetricSeries>& steady) {
  std::vector<double> shifts, noise;
  for (const MetricSeries& metric : steady) {
    const Badness values = badness_of(metric);
    if (!values.relative || values.base.empty() || values.head.empty()) continue;
    shifts.push_back(shift_of(values.base, values.head).estimate);
    noise.push_back(values.noise_floor());
  }
  if (shifts.size() < enough) return {};
  std::sort(shifts.begin(), shifts.end());
  return {std::max({shifts[shifts.size() - 2], -shifts[1], 0.0}),
          std::max(limit, beyond_noise * median(noise))};
}

std::optional<double> fewest_processes(const Rounds& rounds, std::optional<double> fewest) {
  for (const auto* side : {&rounds.base, &rounds.head})
    for (const RunMetrics& run : *side)
      if (run.other_processes)
        fewest = std::min(*run.other_processes, fewest.value_or(*run.other_processes));
  return fewest;
}

/// What rounds say of themselves, beside the metrics' values.
std::string disturbance_in(const Rounds& rounds, std::optional<double> fewest) {
  std::size_t visited = 0, unsteady = 0;
  double worst = 0;
  for (const auto* side : {&rounds.base, &rounds.head})
    for (const RunMetrics& run : *side) {
      visited += run.other_processes && *run.other_processes > fewest;
      unsteady += run.unsteadiness && *run.unsteadiness > limit;
      worst = std::max(worst, run.unsteadiness.value_or(0));
    }
  const std::size_t all = rounds.base.size() + rounds.head.size();
  if (visited > 0)
    return fmt::format("another process used the GPU during {} of {} rounds", visited, all);
  if (unsteady > 0)
    return fmt::format(
        "in {} of {} rounds what one process measured several times differed by up to {} in the "
        "median",
        unsteady, all, format_percent(worst));
  return {};
}

}  // namespace

std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series) {
  const std::string said = disturbance_in(rounds, fewest_processes(rounds, std::nullopt));
  if (!said.empty()) return said;
  const Sign spread = spread_of_rounds(series);
  if (!spread.shows()) return {};
  return fmt::format("the rounds of one side differ by {} over all metrics",
                     format_percent(spread.apart));
}

std::string disturbance_of_fresh(const Rounds& fresh, const Rounds& before,
                                 const std::vector<MetricSeries>& steady) {
  const auto fewest = fewest_processes(before, fewest_processes(fresh, std::nullopt));
  const std::string said = disturbance_in(fresh, fewest);
  if (!said.empty()) return said;
  const Sign spread = spread_of_rounds(steady), shift = shift_of_sides(steady);
  if (!spread.shows() && !shift.shows()) return {};
  const bool rounds = spread.ratio() >= shift.ratio();
  return fmt::format("metrics that had not changed before differ by {} between {}",
                     format_percent(rounds ? spread.apart : shift.apart),
                     rounds ? "rounds of one side" : "the sides");
}

}  // namespace fathom::gate
