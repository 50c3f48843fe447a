#include "gate/decision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "results/format.h"

namespace fathom::gate {

namespace {

/// The value's change, of how much worse it is.
double change_by(double worse, Better better) {
  return std::expm1(better == Better::lower ? worse : -worse);
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
    return change_by(decision.evidence->worse, decision.better);
  if (!decision.base || !decision.head || *decision.base == 0) return std::nullopt;
  if ((*decision.base > 0) != (*decision.head > 0)) return std::nullopt;
  return *decision.head / *decision.base - 1;
}

std::vector<const MetricDecision*> with_outcome(const CheckResult& result, Outcome outcome) {
  std::vector<const MetricDecision*> found;
  for (const MetricDecision& metric : result.metrics)
    if (metric.outcome == outcome) found.push_back(&metric);
  const auto size = [](const MetricDecision* metric) {
    return metric->evidence ? std::abs(metric->evidence->worse) : 0;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto* a, const auto* b) { return size(a) > size(b); });
  return found;
}

std::size_t count(const CheckResult& result, Outcome outcome) {
  return static_cast<std::size_t>(
      std::ranges::count(result.metrics, outcome, &MetricDecision::outcome));
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
  if (limits.size() == 1) return text;
  const std::string metrics = format_count(static_cast<double>(limits.size())) + " metrics";
  if (half == most) return text + " in any of the " + metrics;
  return text + fmt::format(" in half of the {}, and one below {} in the noisiest", metrics, most);
}

std::vector<std::string> why_undecided(const CheckResult& result) {
  // A metric that was compared or decides by itself, or rules that leave out all of them.
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

}  // namespace fathom::gate
