#include "gate/decision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "gate/ranks.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

/// The value's change, of how much worse it is.
double change_by(double worse, Better better) {
  return std::expm1(better == Better::lower ? worse : -worse);
}

/// Below half of the effect that counts a change is none: that is where the tests' hypothesis ends.
OrientedSamples moved_back(OrientedSamples values) {
  const double half =
      values.relative ? std::log1p(0.5 * std::expm1(values.least)) : 0.5 * values.least;
  for (double& value : values.head) value -= half;
  return values;
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

/// In words, if the metric is worse by less than `least` in cycles of a clock that moved.
std::string explained_by(const MetricSeries& series, double least, Clock clock, const char* name) {
  const auto clocks = clocks_of(series, clock);
  if (clocks.empty()) return {};
  const std::size_t rounds = series.base.size();
  const double from = median(std::span(clocks).first(rounds)),
               to = median(std::span(clocks).subspan(rounds));
  if (std::abs(from - to) <= same_clock * from) return {};
  // At a higher clock the same time is more cycles, and the same rate is less in each.
  const double sign = (series.unit == "s") == (series.better == Better::lower) ? 1 : -1;
  OrientedSamples cycles = oriented(series);
  for (std::size_t i = 0; i < clocks.size(); ++i)
    (i < rounds ? cycles.base[i] : cycles.head[i - rounds]) += sign * std::log(clocks[i]);
  const double worse = shift_of(cycles.base, cycles.head).estimate;
  if (worse >= least) return {};
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

std::optional<Interval> change_interval(const MetricDecision& decision) {
  if (!decision.evidence || !decision.evidence->relative) return std::nullopt;
  Interval interval = decision.evidence->interval;
  if (decision.better == Better::higher) std::swap(interval.low, interval.high);
  for (double* end : {&interval.low, &interval.high}) *end = change_by(*end, decision.better);
  return interval;
}

std::optional<double> change_of(const MetricDecision& decision) {
  if (decision.evidence && decision.evidence->relative)
    return change_by(decision.evidence->worse_by, decision.better);
  if (!decision.base || !decision.head || *decision.base == 0) return std::nullopt;
  if ((*decision.base > 0) != (*decision.head > 0)) return std::nullopt;
  return *decision.head / *decision.base - 1;
}

std::vector<const MetricDecision*> with_outcome(const CheckResult& result, Outcome outcome) {
  std::vector<const MetricDecision*> found;
  for (const MetricDecision& metric : result.metrics)
    if (metric.outcome == outcome) found.push_back(&metric);
  std::ranges::stable_sort(found, std::greater<>(), [](const MetricDecision* metric) {
    return metric->evidence ? std::abs(metric->evidence->worse_by) : 0;
  });
  return found;
}

std::string what_would_pass(const CheckResult& result) {
  std::vector<double> limits;
  for (const MetricDecision& metric : result.metrics)
    if (metric.evidence && metric.evidence->relative) limits.push_back(metric.evidence->threshold);
  if (limits.empty()) return {};
  std::ranges::sort(limits);
  const auto words = [](double limit) { return format_percent(std::expm1(limit)); };
  const std::string half = words(limits[limits.size() / 2]), most = words(limits.back());
  const std::string text = fmt::format("a slowdown below {} would have passed", half);
  if (half == most) return text;
  return text + fmt::format(" in half of the {}, and one below {} in the noisiest",
                            counted(limits.size(), "metric"), most);
}

std::vector<std::string> why_undecided(const CheckResult& result) {
  const auto tells = [](const MetricDecision& metric) {
    return metric.evidence || metric.outcome == Outcome::inconclusive ||
           metric.outcome == Outcome::missing;
  };
  const auto left_out = [](const MetricDecision& metric) {
    return metric.outcome == Outcome::ignored && !metric.rule.empty();
  };
  const auto& metrics = result.metrics;
  if (!result.refusals.empty() || std::ranges::any_of(metrics, tells) ||
      (!metrics.empty() && std::ranges::all_of(metrics, left_out)))
    return result.refusals;
  return {"nothing was compared: no metric has enough values on both sides"};
}

ExitCode exit_code(const CheckResult& result) {
  if (result.ended) return *result.ended;
  if (count(result, Outcome::regression) > 0) return ExitCode::check_failed;
  if (count(result, Outcome::missing) > 0) return ExitCode::metric_missing;
  if (!why_undecided(result).empty() || count(result, Outcome::inconclusive) > 0)
    return ExitCode::inconclusive;
  return ExitCode::ok;
}

std::string headline(const CheckResult& result) {
  const auto of = [&](Outcome outcome, const char* one) {
    return counted(count(result, outcome), one);
  };
  switch (exit_code(result)) {
    case ExitCode::check_failed:
      return fmt::format("FAIL: {}{}", of(Outcome::regression, "regression"),
                         result.mode == "paired" ? " confirmed" : "");
    case ExitCode::metric_missing:
      return fmt::format("FAIL: {} of the baseline missing", of(Outcome::missing, "metric"));
    case ExitCode::inconclusive:
      if (const auto why = why_undecided(result); !why.empty())
        return "INCONCLUSIVE: " + why.front();
      return fmt::format("INCONCLUSIVE: {} cannot be decided", of(Outcome::inconclusive, "metric"));
    case ExitCode::ok:
      return fmt::format("PASS: {}, no regression", counted(result.metrics.size(), "metric"));
    default:
      return fmt::format("ERROR: {}", fmt::join(result.refusals, " "));
  }
}

std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head, const Rules& rules) {
  std::vector<MetricSeries> all;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t run = 0; run < base.size() + head.size(); ++run) {
    const bool is_head = run >= base.size();
    for (const MetricValue& metric : (is_head ? head[run - base.size()] : base[run]).metrics) {
      const auto [found, is_new] = places.try_emplace(metric.name, all.size());
      if (is_new)
        all.push_back({.name = metric.name,
                       .unit = metric.unit,
                       .better = metric.better,
                       .rule = find_rule(rules, metric.name)});
      MetricSeries& series = all[found->second];
      if (metric.unit != series.unit)
        series.redefined =
            fmt::format("its unit changed from \"{}\" to \"{}\"", series.unit, metric.unit);
      else if (metric.better != series.better)
        series.redefined = fmt::format("{} is better now", fathom::to_string(metric.better));
      if (metric.problem.empty()) {
        (is_head ? series.head : series.base).push_back(metric);
        if (!is_head) series.base_runs.push_back(run);
      } else if (is_head) {
        series.problem = metric.problem;
      }
    }
  }
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
  const Rule* const rule = series.rule;
  const double effect = rule && rule->threshold ? *rule->threshold : effect_that_counts;
  values.least = values.relative ? std::log1p(effect)
                                 : effect * std::abs(median_or_none(values.base).value_or(0));
  return values;
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

double usual_spread_of(const std::vector<MetricSeries>& series) {
  std::vector<double> spreads;
  for (const MetricSeries& metric : series)
    if (const OrientedSamples values = oriented(metric);
        values.relative && !values.base.empty() && !values.head.empty())
      spreads.push_back(values.spread());
  return median_or_none(spreads).value_or(0);
}

Evidence evidence_of_rounds(const MetricSeries& series) {
  const OrientedSamples values = oriented(series);
  const double floor = values.noise_floor();
  const Shift shift = shift_of(values.base, values.head);
  return {.relative = values.relative,
          .worse_by = shift.estimate,
          .interval = shift.interval,
          .noise_floor = floor,
          .least = values.least,
          .threshold = std::max(values.least, noise_factor * floor),
          .p = rank_test_greater(values.base, moved_back(values).head)};
}

double least_p_with_more(const MetricSeries& series, std::size_t more) {
  OrientedSamples values = moved_back(oriented(series));
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
    if (std::string reason = explained_by(series, evidence.least, clock, name); !reason.empty())
      return reason;
  // A reading of a clock is a sample; that something held it down is remembered by the GPU.
  const auto before = usual_reasons(series.base), after = usual_reasons(series.head);
  if (before == after) return {};
  constexpr double missed_drop = 0.05;  // the clock may have been lower than any sample
  const auto clocks = clocks_of(series, &GpuState::sm_clock_hz);
  const auto fell = [&] { return std::log(std::ranges::max(clocks) / std::ranges::min(clocks)); };
  if (!clocks.empty() && evidence.worse_by > std::max(fell(), std::log1p(missed_drop))) return {};
  const auto words = [](const std::set<std::string>& reasons) {
    return reasons.empty() ? "nothing" : fmt::format("{}", fmt::join(reasons, ", "));
  };
  return fmt::format("the clock moved: what held it down changed from {} to {}.", words(before),
                     words(after));
}

void take_values(const MetricSeries& series, MetricDecision& decision) {
  decision.base_runs = series.base.size();
  decision.head_runs = series.head.size();
  if (!series.redefined.empty()) return;  // the values have no common median
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

}  // namespace fathom::gate
