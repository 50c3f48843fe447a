#include "gate/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "gate/rank_statistics.h"
#include "results/format.h"
#include "results/names.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Below half of the effect that counts a change is none: that is where the tests' hypothesis ends.
OrientedSamples moved_back(const MetricSeries& series) {
  OrientedSamples values = oriented(series);
  const double margin = values.on_scale(series.effect() * 0.5);
  for (double& value : values.head) value -= margin;
  return values;
}

/// A file may have its times in any unit: here they are in seconds.
std::string in_words(const std::string& unit) {
  return unit.empty() ? "no unit" : unit == "s" ? "a time" : unit;
}

/// Clocks closer together than this have not moved: a third of a step of 15 MHz at 1980 MHz.
constexpr double same_clock = 0.0025;

using Clock = std::optional<double> GpuState::*;

/// The clock in each round, the base's first; empty if one round does not know it.
std::vector<double> clocks_of(const MetricSeries& series, Clock clock) {
  std::vector<double> found;
  for (const auto* side : {&series.base, &series.head})
    for (const MetricValue& metric : *side) {
      const auto value = metric.state.*clock;
      if (!value || !(*value > 0)) return {};
      found.push_back(*value);
    }
  return found;
}

/// In words, if the metric is no worse in cycles of a clock that moved.
std::string explained_by(const MetricSeries& series, Clock clock, const char* name) {
  const auto clocks = clocks_of(series, clock);
  if (clocks.empty()) return {};
  const auto [low, high] = std::ranges::minmax(clocks);
  if (high - low <= same_clock * high) return {};
  const std::size_t rounds = series.base.size();
  double from = median(std::span(clocks).first(rounds)),
         to = median(std::span(clocks).subspan(rounds));
  if (std::abs(from - to) <= same_clock * from) from = low, to = high;  // within the sides
  // At a higher clock the same time is more cycles, and the same rate is less in each.
  const double sign = (series.unit == "s") == (series.better == Better::lower) ? 1 : -1;
  OrientedSamples cycles = oriented(series);
  for (std::size_t i = 0; i < clocks.size(); ++i)
    (i < rounds ? cycles.base[i] : cycles.head[i - rounds]) += sign * std::log(clocks[i]);
  const double worse = shift_of(cycles.base, cycles.head).estimate;
  if (worse >= cycles.on_scale(series.effect())) return {};
  return fmt::format("the {} clock moved from {} to {}; in its cycles the metric is {} {}.", name,
                     format_quantity(from, "Hz"), format_quantity(to, "Hz"),
                     format_percent(std::abs(std::expm1(worse))), worse >= 0 ? "worse" : "better");
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

}  // namespace

std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head, const Rules& rules) {
  std::vector<MetricSeries> all;
  std::unordered_map<std::string_view, std::size_t> places;
  const auto add = [&](const RunMetrics& run, bool is_head, std::size_t number) {
    for (const MetricValue& metric : run.metrics) {
      const auto [found, is_new] = places.try_emplace(metric.name, all.size());
      if (is_new)
        all.push_back({.name = metric.name,
                       .unit = metric.unit,
                       .better = metric.better,
                       .rule = find_rule(rules, metric.name)});
      MetricSeries& series = all[found->second];
      if (metric.unit != series.unit) {
        series.other_unit = true;
        series.redefined = fmt::format("its unit changed from {} to {}", in_words(series.unit),
                                       in_words(metric.unit));
      } else if (metric.better != series.better) {
        series.redefined = fmt::format("{} is better now", fathom::to_string(metric.better));
      }
      if (metric.problem.empty()) {
        (is_head ? series.head : series.base).push_back(metric);
        if (!is_head) series.base_runs.push_back(number);
      } else if (is_head) {
        series.problem = metric.problem;
      }
    }
  };
  for (std::size_t i = 0; i < base.size(); ++i) add(base[i], false, i);
  for (std::size_t i = 0; i < head.size(); ++i) add(head[i], true, i);
  return all;
}

OrientedSamples oriented(const MetricSeries& series) {
  const auto above_zero = [](const MetricValue& metric) { return metric.value > 0; };
  OrientedSamples values;
  values.relative =
      std::ranges::all_of(series.base, above_zero) && std::ranges::all_of(series.head, above_zero);
  const double sign = series.better == Better::lower ? 1 : -1;
  const auto convert = [&](const std::vector<MetricValue>& metrics, std::vector<double>& to) {
    for (const MetricValue& metric : metrics)
      to.push_back(sign * (values.relative ? std::log(metric.value) : metric.value));
  };
  convert(series.base, values.base);
  convert(series.head, values.head);
  return values;
}

double OrientedSamples::on_scale(double effect) const {
  return relative ? std::log1p(effect) : effect * std::abs(median(base));
}

double OrientedSamples::spread() const {
  std::vector<double> residuals;
  for (const auto* side : {&base, &head}) {
    if (side->size() < 2) continue;
    const double centre = median(*side);
    for (const double value : *side) residuals.push_back(value - centre);
  }
  if (residuals.size() < 4) return 0;
  // Two medians were fitted: as of a standard deviation, n - 2 are left.
  const double n = static_cast<double>(residuals.size());
  return robust_spread(residuals) * std::sqrt(n / (n - 2));
}

double OrientedSamples::noise_floor() const {
  return spread() *
         std::sqrt(1 / static_cast<double>(base.size()) + 1 / static_cast<double>(head.size()));
}

Evidence evidence_of_rounds(const MetricSeries& series) {
  const OrientedSamples values = oriented(series), back = moved_back(series);
  const double least = values.on_scale(series.effect()), floor = values.noise_floor();
  const Shift shift = shift_of(values.base, values.head);
  return {.relative = values.relative,
          .worse = shift.estimate,
          .interval = shift.interval,
          .noise_floor = floor,
          .least = least,
          .threshold = std::max(least, noise_factor * floor),
          .p = rank_test_greater(back.base, back.head)};
}

double least_p_with_more(const MetricSeries& series, std::size_t more) {
  OrientedSamples values = moved_back(series);
  const double best = std::min(std::ranges::min(values.base), std::ranges::min(values.head));
  const double worst = std::max(std::ranges::max(values.base), std::ranges::max(values.head));
  values.base.insert(values.base.end(), more, best - 1 - std::abs(best));
  values.head.insert(values.head.end(), more, worst + 1 + std::abs(worst));
  return rank_test_greater(values.base, values.head);
}

std::string clock_explanation(const MetricSeries& series, const Evidence& evidence) {
  // Times and rates follow it, cycles, counts and ratios do not.
  const std::set<std::string> follow{"s", "B/s", "FLOP/s", "op/s", "OP/s"};
  if (!evidence.relative || !follow.contains(series.unit)) return {};
  for (const auto& [clock, name] :
       {std::pair{&GpuState::sm_clock_hz, "SM"}, {&GpuState::memory_clock_hz, "memory"}})
    if (std::string reason = explained_by(series, clock, name); !reason.empty()) return reason;
  // A reading of a clock is a sample; that something held it down is remembered by the GPU.
  const auto before = usual_reasons(series.base), after = usual_reasons(series.head);
  if (before == after) return {};
  constexpr double missed_drop = 0.05;  // the clock may have been lower than any sample
  const auto clocks = clocks_of(series, &GpuState::sm_clock_hz);
  const auto fell = [&] { return std::log(std::ranges::max(clocks) / std::ranges::min(clocks)); };
  if (!clocks.empty() && evidence.worse > std::max(fell(), std::log1p(missed_drop))) return {};
  const auto words = [](const std::set<std::string>& reasons) {
    return reasons.empty() ? "nothing" : fmt::format("{}", fmt::join(reasons, ", "));
  };
  return fmt::format("the clock moved: what held it down changed from {} to {}.", words(before),
                     words(after));
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

std::string p_words(double p) { return p < 1e-6 ? "p < 1e-06" : fmt::format("p = {:.2g}", p); }

}  // namespace fathom::gate
