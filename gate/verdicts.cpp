#include "gate/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

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

/// In words, if the metric is no worse in cycles of a clock that moved.
std::optional<std::string> explained_by(MetricSeries series, Clock clock, const char* name) {
  const auto range = range_of(series, clock);
  if (!range || range->second - range->first <= same_clock * range->second) return std::nullopt;
  double from = median(clocks_of(series.base, clock)), to = median(clocks_of(series.head, clock));
  if (std::abs(from - to) <= same_clock * from) std::tie(from, to) = *range;  // within the sides
  for (auto* side : {&series.base, &series.head})
    for (MetricValue& metric : *side) {
      const double hz = *(metric.state.*clock);
      metric.value = series.unit == "s" ? metric.value * hz : metric.value / hz;
    }
  const Evidence cycles = evidence_of_rounds(series);
  if (cycles.worse >= cycles.least) return std::nullopt;
  return fmt::format("the {} clock moved from {} to {}; in its cycles the metric is {} {}.", name,
                     format_quantity(from, "Hz"), format_quantity(to, "Hz"),
                     format_percent(std::abs(std::expm1(cycles.worse))),
                     cycles.worse >= 0 ? "worse" : "better");
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

void take_values(const MetricSeries& series, MetricDecision& decision) {
  decision.base_runs = series.base.size();
  decision.head_runs = series.head.size();
  if (series.other_unit) return;  // the values have no common median
  const auto median_of = [](const std::vector<MetricValue>& metrics) {
    std::vector<double> values;
    for (const MetricValue& metric : metrics) values.push_back(metric.value);
    return median_or_none(values);
  };
  decision.base = median_of(series.base);
  decision.head = median_of(series.head);
}

MetricDecision first_decision(const MetricSeries& series) {
  MetricDecision decision{.name = series.name, .unit = series.unit, .better = series.better};
  if (series.rule) decision.rule = series.rule->reason;
  take_values(series, decision);
  if (series.rule && series.rule->ignore)
    decision.decide(Outcome::ignored, series.rule->reason);
  else if (series.base.empty() && series.head.empty())
    decision.decide(Outcome::ignored, "neither side has a value: " + series.problem + ".");
  else if (series.base.empty())
    decision.decide(Outcome::added, "the base has no such metric.");
  else if (!series.problem.empty())
    decision.decide(Outcome::missing, series.problem + ".");
  else if (series.head.empty())
    decision.decide(Outcome::missing, "it is in the baseline and not here.");
  else if (!series.redefined.empty())
    decision.decide(Outcome::inconclusive,
                    "it is not the same metric throughout: " + series.redefined + ".");
  return decision;
}

std::string change_words(const MetricDecision& decision) {
  if (const auto change = change_of(decision)) return format_percent(std::abs(*change));
  return fmt::format("{} (from {} to {})",
                     format_quantity(std::abs(*decision.head - *decision.base), decision.unit),
                     format_quantity(decision.base, decision.unit),
                     format_quantity(decision.head, decision.unit));
}

std::string p_words(double p) {
  constexpr double least = 1e-6;
  return p < least ? "p < 1e-06" : fmt::format("p = {:.2g}", p);
}

}  // namespace fathom::gate
