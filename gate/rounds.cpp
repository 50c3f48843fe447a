#include "gate/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "gate/ranks.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

constexpr double limit = 0.01;
constexpr std::size_t enough = 5;

/// In words, if they are apart by more than noise explains. Four standard deviations are no noise:
/// of some dozens of rounds one may be the farthest.
std::string apart_words(const char* what, double apart, const std::vector<double>& deviations) {
  if (apart <= std::max(limit, 4 * median(deviations))) return {};
  return fmt::format("{} differ by {}", what, format_percent(apart));
}

/// The largest difference between two rounds of one side. What noise makes of it: a mid-hinge of m
/// values has 1.11 of their spread over root m, and two of them differ by twice that at most.
std::string spread_of_rounds(const std::vector<OrientedSamples>& metrics,
                             std::vector<double> OrientedSamples::*side) {
  std::vector<std::vector<double>> by_round;
  for (const OrientedSamples& metric : metrics) {
    const std::vector<double>& values = metric.*side;
    if (values.size() < 2) continue;
    const double centre = median(values);
    by_round.resize(std::max(by_round.size(), values.size()));
    for (std::size_t round = 0; round < values.size(); ++round)
      by_round[round].push_back(values[round] - centre);
  }
  std::vector<double> shifts, noise;
  for (const auto& deviations : by_round) {
    if (deviations.size() < enough) continue;
    shifts.push_back((quantile(deviations, 0.25) + quantile(deviations, 0.75)) / 2);
    noise.push_back(2 * 1.11 * robust_spread(deviations) /
                    std::sqrt(static_cast<double>(deviations.size())));
  }
  if (shifts.size() < 2) return {};
  const auto [low, high] = std::ranges::minmax(shifts);
  return apart_words("the rounds of one side", high - low, noise);
}

/// How far apart the two sides are in at least two metrics, in one direction: over all rounds of a
/// side noise is small, and it is not in two of a few metrics at once.
std::string shift_of_sides(const std::vector<OrientedSamples>& steady) {
  std::vector<double> shifts, noise;
  for (const OrientedSamples& values : steady) {
    if (values.base.empty() || values.head.empty()) continue;
    shifts.push_back(shift_of(values.base, values.head).estimate);
    noise.push_back(values.noise_floor());
  }
  if (shifts.size() < enough) return {};
  std::ranges::sort(shifts);
  return apart_words("the sides", std::max(shifts[shifts.size() - 2], -shifts[1]), noise);
}

}  // namespace

std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series,
                           const Rounds* before) {
  constexpr int none = std::numeric_limits<int>::max();
  int fewest = none;  // other processes
  for (const Rounds* some : {&rounds, before ? before : &rounds})
    for (const auto* side : {&some->base, &some->head})
      for (const RunMetrics& run : *side)
        fewest = std::min(fewest, run.other_processes.value_or(none));
  std::size_t visited = 0;
  double worst = 0;
  for (const auto* side : {&rounds.base, &rounds.head})
    for (const RunMetrics& run : *side) {
      visited += run.other_processes > fewest;
      worst = std::max(worst, run.unsteadiness.value_or(0));
    }
  const std::size_t all = rounds.base.size() + rounds.head.size();
  if (visited > 0)
    return fmt::format("another process used the GPU during {} of {} rounds", visited, all);
  if (worst > limit)
    return fmt::format("what one process measured several times differed by {} in the median",
                       format_percent(worst));
  std::vector<OrientedSamples> metrics;
  for (const MetricSeries& metric : series)
    if (OrientedSamples values = oriented(metric); values.relative)
      metrics.push_back(std::move(values));
  for (const auto side : {&OrientedSamples::base, &OrientedSamples::head})
    if (std::string why = spread_of_rounds(metrics, side); !why.empty()) return why;
  return before ? shift_of_sides(metrics) : "";
}

std::vector<Side> round_order(std::size_t rounds, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<Side> order;
  for (std::size_t block = 0; block < 2 * rounds / rounds_of_block; ++block) {
    const bool base_first = (generator() >> 63) == 0;
    const Side outer = base_first ? Side::base : Side::head;
    const Side inner = base_first ? Side::head : Side::base;
    order.insert(order.end(), {outer, inner, inner, outer});
  }
  return order;
}

std::size_t confirmation_rounds_for(std::size_t suspects, double spread) {
  constexpr std::size_t fewest = 6, most = 20;
  constexpr double to_spare = 4, to_be_seen = 0.025;
  const double family = static_cast<double>(std::max<std::size_t>(suspects, 1));
  const double noise = noise_factor * spread / to_be_seen;
  std::size_t rounds = fewest;
  while (rounds < most && (smallest_rank_p(rounds, rounds) * family * to_spare > paired_alpha ||
                           static_cast<double>(rounds) < 2 * noise * noise))
    rounds += 2;
  return rounds;
}

}  // namespace fathom::gate
