#include "gate/verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gate/rank_statistics.h"
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

std::optional<double> median_of(const std::vector<MetricValue>& metrics) {
  std::vector<double> values;
  for (const MetricValue& metric : metrics) values.push_back(metric.value);
  return median_or_none(values);
}

void take_values(const MetricSeries& series, MetricDecision& decision) {
  decision.base_runs = series.base.size();
  decision.head_runs = series.head.size();
  if (series.other_unit) return;  // the values have no common median
  decision.base = median_of(series.base);
  decision.head = median_of(series.head);
}

/// Whether the fresh rounds are sure that it is worse, and by what counts at least.
bool is_sure(const MetricDecision& decision) {
  const Evidence& evidence = *decision.evidence;
  return *decision.adjusted_p <= paired_alpha && evidence.worse > 0 &&
         evidence.worse >= evidence.least;
}

/// Why a change that is significant is none of the program's; empty: it is one.
std::string objection_to(const MetricSeries& series, const Evidence& evidence) {
  if (evidence.worse >= evidence.threshold) return clock_explanation(series, evidence).value_or("");
  return fmt::format("it is too noisy to tell: only changes above {} count, {} times its noise.",
                     evidence.relative ? format_percent(std::expm1(evidence.threshold))
                                       : format_number(evidence.threshold),
                     format_number(noise_factor));
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

bool looks_worse(const Evidence& evidence) { return evidence.worse > 0.5 * evidence.least; }

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

bool decide_if_rounds_lack(const MetricSeries& series, std::size_t rounds, bool again,
                           MetricDecision& decision) {
  const std::size_t base = series.base.size(), head = series.head.size();
  if (base >= rounds && head >= rounds) return false;
  const bool lost = head < rounds;
  decision.decide(lost ? Outcome::missing : Outcome::inconclusive,
                  fmt::format("the {} {} it in {} of {} rounds{}.", lost ? "head" : "base",
                              again ? "had" : "has", lost ? head : base, rounds,
                              again ? " when it was measured again" : ""));
  return true;
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

void judge(std::vector<FreshRounds> metrics, bool suspects, const std::string& disturbed) {
  std::vector<double> p;
  for (auto& [series, decision] : metrics) {
    if (!suspects) series = mirrored(std::move(series));
    take_values(series, *decision);
    decision->evidence = evidence_of_rounds(series);
    decision->repeated = true;
    p.push_back(decision->evidence->p);
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const MetricSeries& series = metrics[i].series;
    MetricDecision& decision = *metrics[i].decision;
    Evidence& evidence = *decision.evidence;
    decision.adjusted_p = adjusted[i];
    const std::string objection = objection_to(series, evidence);
    if (suspects && !disturbed.empty()) {
      // Nor is it known that it is unchanged: the base's rounds may be the slow ones.
      decision.decide(Outcome::inconclusive,
                      decision.reason + " Of the fresh rounds: " + disturbed);
    } else if (!is_sure(decision) || (!suspects && !(disturbed.empty() && objection.empty()))) {
      decision.decide(Outcome::unchanged, decision.reason + " Fresh rounds do not confirm it.");
    } else if (!suspects) {
      decision.decide(Outcome::improved, fmt::format("better by {}.", change_words(decision)));
    } else if (!objection.empty()) {
      decision.decide(Outcome::inconclusive, objection);
    } else {
      decision.decide(Outcome::regression,
                      fmt::format("worse by {} in {} and {} fresh rounds ({}).{}",
                                  change_words(decision), decision.base_runs, decision.head_runs,
                                  p_words(*decision.adjusted_p), clock_remark(series)));
    }
    if (suspects) continue;
    // Back to the direction in which everything else is told.
    evidence.worse = -evidence.worse;
    evidence.interval = {-evidence.interval.high, -evidence.interval.low,
                         evidence.interval.confidence, evidence.interval.method};
  }
}

}  // namespace fathom::gate
