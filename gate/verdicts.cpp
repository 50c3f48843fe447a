#include "gate/verdicts.h"

#include <fmt/format.h>

#include <cmath>

#include "gate/rank_statistics.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

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
