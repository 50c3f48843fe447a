#include "gate/physics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Clocks closer together than this have not moved: a third of a step of 15 MHz at 1980 MHz.
constexpr double same_clock = 0.0025;

using Clock = std::optional<double> GpuState::*;

std::vector<double> clocks_of(const std::vector<MetricValue>& metrics, Clock clock) {
  std::vector<double> found;
  for (const MetricValue& metric : metrics) {
    if (const auto value = metric.state.*clock; value && *value > 0) found.push_back(*value);
  }
  return found;
}

/// Where every round of both sides knows the clock: all of their readings.
std::vector<double> all_clocks(const MetricSeries& series, Clock clock) {
  auto all = clocks_of(series.base, clock);
  const auto head = clocks_of(series.head, clock);
  all.insert(all.end(), head.begin(), head.end());
  if (all.size() != series.base.size() + series.head.size()) all.clear();
  return all;
}

/// The same series in cycles of the clock: a time is multiplied by it, a rate divided.
MetricSeries in_cycles(MetricSeries series, Clock clock) {
  const bool time = series.unit == "s";
  const auto convert = [&](std::vector<MetricValue>& metrics) {
    for (MetricValue& metric : metrics) {
      const double hz = *(metric.state.*clock);
      metric.value = time ? metric.value * hz : metric.value / hz;
    }
  };
  convert(series.base);
  convert(series.head);
  return series;
}

std::optional<std::string> explained_by(const MetricSeries& series, Clock clock, const char* name,
                                        const GateOptions& options, double effect) {
  const auto all = all_clocks(series, clock);
  if (all.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(all);
  if (high - low <= same_clock * high) return std::nullopt;
  const Evidence cycles = evidence_of_rounds(in_cycles(series, clock), options, effect);
  if (cycles.worse >= std::log1p(effect)) return std::nullopt;
  const double from = median(clocks_of(series.base, clock));
  const double to = median(clocks_of(series.head, clock));
  const std::string moved =
      std::abs(from - to) > same_clock * from
          ? fmt::format("from {} to {}", format_quantity(from, "Hz"), format_quantity(to, "Hz"))
          : fmt::format("between {} and {} from round to round", format_quantity(low, "Hz"),
                        format_quantity(high, "Hz"));
  return fmt::format("the {} clock moved {}; in its cycles the metric is {} {}.", name, moved,
                     format_percent(std::abs(std::expm1(cycles.worse))),
                     cycles.worse >= 0 ? "worse" : "better");
}

std::string words_of(const std::vector<std::string>& reasons) {
  return reasons.empty() ? "nothing" : fmt::format("{}", fmt::join(reasons, ", "));
}

/// What held the clock down in most of the rounds.
std::vector<std::string> usual_reasons(const std::vector<MetricValue>& metrics) {
  std::multiset<std::string> all;
  for (const MetricValue& metric : metrics)
    all.insert(metric.state.throttle_reasons.begin(), metric.state.throttle_reasons.end());
  std::vector<std::string> usual;
  for (auto reason = all.begin(); reason != all.end(); reason = all.upper_bound(*reason)) {
    if (2 * all.count(*reason) > metrics.size()) usual.push_back(*reason);
  }
  return usual;
}

/// Nothing where the same held it down before and after, or nothing did.
std::optional<std::string> reasons_changed(const MetricSeries& series) {
  const auto before = usual_reasons(series.base), after = usual_reasons(series.head);
  if (before == after) return std::nullopt;
  return fmt::format("what held it down changed from {} to {}", words_of(before), words_of(after));
}

/// The most, as a logarithm, by which the SM clock may have been lower on one side: what a round's
/// telemetry reads are samples, so it may be somewhat more than is seen. Nothing where the clock of
/// a round is not known.
std::optional<double> plausible_drop(const MetricSeries& series) {
  constexpr double missed_drop = 0.05;
  const auto clocks = all_clocks(series, &GpuState::sm_clock_hz);
  if (clocks.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(clocks);
  return std::max(std::log(high / low), std::log1p(missed_drop));
}

}  // namespace

bool follows_clock(const std::string& unit) {
  return unit == "s" || unit == "B/s" || unit == "FLOP/s" || unit == "op/s" || unit == "OP/s";
}

std::optional<std::string> clock_explanation(const MetricSeries& series, const Evidence& evidence,
                                             const GateOptions& options, double effect) {
  if (!evidence.relative || !follows_clock(series.unit)) return std::nullopt;
  if (auto reason = explained_by(series, &GpuState::sm_clock_hz, "SM", options, effect))
    return reason;
  if (auto reason = explained_by(series, &GpuState::memory_clock_hz, "memory", options, effect))
    return reason;
  // What is read of a clock is a sample; that something held it down is remembered by the GPU.
  const auto changed = reasons_changed(series);
  const auto drop = plausible_drop(series);
  if (!changed || (drop && evidence.worse > *drop)) return std::nullopt;
  return fmt::format("the clock moved: {}.", *changed);
}

std::string clock_remark(const MetricSeries& series) {
  const auto changed = follows_clock(series.unit) ? reasons_changed(series) : std::nullopt;
  if (!changed) return {};
  return fmt::format(" The SM clock does not explain it, though {}.", *changed);
}

}  // namespace fathom::gate
