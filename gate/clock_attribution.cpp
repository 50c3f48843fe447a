#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gate/verdicts.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Clocks closer together than this have not moved: a third of a step of 15 MHz at 1980 MHz.
constexpr double same_clock = 0.0025;

using Clock = std::optional<double> GpuState::*;

/// Times and rates do, cycles, counts and ratios do not.
bool follows_clock(const std::string& unit) {
  return unit == "s" || unit == "B/s" || unit == "FLOP/s" || unit == "op/s" || unit == "OP/s";
}

std::vector<double> clocks_of(const std::vector<MetricValue>& metrics, Clock clock) {
  std::vector<double> found;
  for (const MetricValue& metric : metrics)
    if (const auto value = metric.state.*clock; value && *value > 0) found.push_back(*value);
  return found;
}

/// The lowest and the highest reading of both sides; nothing where a round does not know the clock.
std::optional<std::pair<double, double>> range_of(const MetricSeries& series, Clock clock) {
  auto all = clocks_of(series.base, clock);
  const auto head = clocks_of(series.head, clock);
  all.insert(all.end(), head.begin(), head.end());
  if (all.empty() || all.size() != series.base.size() + series.head.size()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(all);
  return std::pair{low, high};
}

/// The same series in cycles of the clock: a time is multiplied by it, a rate divided.
MetricSeries in_cycles(MetricSeries series, Clock clock) {
  for (auto* side : {&series.base, &series.head})
    for (MetricValue& metric : *side) {
      const double hz = *(metric.state.*clock);
      metric.value = series.unit == "s" ? metric.value * hz : metric.value / hz;
    }
  return series;
}

std::optional<std::string> explained_by(const MetricSeries& series, Clock clock, const char* name) {
  const auto range = range_of(series, clock);
  if (!range) return std::nullopt;
  const auto [low, high] = *range;
  if (high - low <= same_clock * high) return std::nullopt;
  const Evidence cycles = evidence_of_rounds(in_cycles(series, clock));
  if (cycles.worse >= cycles.least) return std::nullopt;
  const double from = median(clocks_of(series.base, clock));
  const double to = median(clocks_of(series.head, clock));
  const bool apart = std::abs(from - to) > same_clock * from;
  return fmt::format(
      "the {} clock moved {} {} {} {}{}; in its cycles the metric is {} {}.", name,
      apart ? "from" : "between", format_quantity(apart ? from : low, "Hz"), apart ? "to" : "and",
      format_quantity(apart ? to : high, "Hz"), apart ? "" : " from round to round",
      format_percent(std::abs(std::expm1(cycles.worse))), cycles.worse >= 0 ? "worse" : "better");
}

/// What held the clock down in most of the rounds.
std::set<std::string> usual_reasons(const std::vector<MetricValue>& metrics) {
  std::multiset<std::string> all;
  for (const MetricValue& metric : metrics)
    all.insert(metric.state.throttle_reasons.begin(), metric.state.throttle_reasons.end());
  std::set<std::string> usual;
  for (const std::string& reason : all)
    if (2 * all.count(reason) > metrics.size()) usual.insert(reason);
  return usual;
}

/// Nothing where the same held it down before and after, or nothing did.
std::optional<std::string> reasons_changed(const MetricSeries& series) {
  const auto before = usual_reasons(series.base), after = usual_reasons(series.head);
  if (before == after) return std::nullopt;
  const auto words = [](const std::set<std::string>& reasons) {
    return reasons.empty() ? "nothing" : fmt::format("{}", fmt::join(reasons, ", "));
  };
  return fmt::format("what held it down changed from {} to {}", words(before), words(after));
}

}  // namespace

std::optional<std::string> clock_explanation(const MetricSeries& series, const Evidence& evidence) {
  if (!evidence.relative || !follows_clock(series.unit)) return std::nullopt;
  if (auto reason = explained_by(series, &GpuState::sm_clock_hz, "SM")) return reason;
  if (auto reason = explained_by(series, &GpuState::memory_clock_hz, "memory")) return reason;
  // A reading of a clock is a sample; that something held it down is remembered by the GPU.
  const auto changed = reasons_changed(series);
  if (!changed) return std::nullopt;
  constexpr double missed_drop = 0.05;  // the clock may have been lower than any sample
  const auto range = range_of(series, &GpuState::sm_clock_hz);
  if (range &&
      evidence.worse > std::max(std::log(range->second / range->first), std::log1p(missed_drop)))
    return std::nullopt;
  return fmt::format("the clock moved: {}.", *changed);
}

std::string clock_remark(const MetricSeries& series) {
  const auto changed = follows_clock(series.unit) ? reasons_changed(series) : std::nullopt;
  if (!changed) return {};
  return fmt::format(" The SM clock does not explain it, though {}.", *changed);
}

}  // namespace fathom::gate
