#include "gate/verdicts.h"

#include <fmt/format.h>

#include <cmath>

#include "gate/physics.h"
#include "gate/rank_statistics.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

std::optional<double> median_of(const std::vector<MetricValue>& metrics) {
  if (metrics.empty()) return std::nullopt;
  std::vector<double> values;
  for (const MetricValue& metric : metrics) values.push_back(metric.value);
  return median(values);
}

void take_values(const MetricSeries& series, MetricDecision& decision) {
  decision.base = median_of(series.base);
  decision.head = median_of(series.head);
  decision.base_runs = series.base.size();
  decision.head_runs = series.head.size();
}

std::vector<Evidence> evidence_for(const std::vector<MetricSeries>& series,
                                   const std::vector<MetricDecision*>& decisions,
                                   const Rules& rules, const GateOptions& options) {
  std::vector<Evidence> all;
  std::vector<double> p;
  for (const MetricSeries& metric : series) {
    all.push_back(
        evidence_of_rounds(metric, options, effect_for(find_rule(rules, metric.name), options)));
    p.push_back(all.back().p);
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t i = 0; i < series.size(); ++i) {
    take_values(series[i], *decisions[i]);
    decisions[i]->evidence = all[i];
    decisions[i]->adjusted_p = adjusted[i];
    decisions[i]->repeated = true;
  }
  return all;
}

}  // namespace

double effect_for(const Rule* rule, const GateOptions& options) {
  return rule && rule->threshold ? *rule->threshold : options.effect;
}

double least_effect(const Evidence& evidence, const MetricSeries& series, double effect) {
  if (evidence.relative) return std::log1p(effect);
  return effect * std::abs(median_of(series.base).value_or(0));
}

bool looks_worse(const Evidence& evidence, const MetricSeries& series, double effect) {
  constexpr double suspicious_share = 0.5;
  return evidence.worse > suspicious_share * least_effect(evidence, series, effect);
}

MetricDecision first_decision(const MetricSeries& series, const Rule* rule) {
  MetricDecision decision;
  decision.name = series.name;
  decision.unit = series.unit;
  decision.better = series.better;
  if (rule) decision.rule = rule->reason;
  take_values(series, decision);
  if (rule && rule->ignore) {
    decision.outcome = Outcome::ignored;
    decision.reason = rule->reason;
  } else if (series.base.empty() && series.head.empty()) {
    decision.outcome = Outcome::ignored;
    decision.reason = "neither side has a value: " + series.problem + ".";
  } else if (series.base.empty()) {
    decision.outcome = Outcome::added;
    decision.reason = "the base has no such metric.";
  } else if (!series.problem.empty() || series.head.empty()) {
    decision.outcome = Outcome::missing;
    decision.reason =
        series.problem.empty() ? "it is in the baseline and not here." : series.problem + ".";
  } else if (!series.redefined.empty()) {
    decision.outcome = Outcome::inconclusive;
    decision.reason = "it is not the same metric throughout: it went " + series.redefined + ".";
  }
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

std::string objection_to(const MetricSeries& series, const Evidence& evidence,
                         const GateOptions& options, double effect) {
  if (evidence.worse < evidence.threshold) {
    const double floor = evidence.relative ? std::expm1(evidence.threshold) : 0;
    return fmt::format(
        "it is too noisy to tell: only changes above {} count, {} times its noise.",
        evidence.relative ? format_percent(floor) : format_number(evidence.threshold),
        format_number(options.noise_factor));
  }
  return clock_explanation(series, evidence, options, effect).value_or("");
}

void judge_suspects(const std::vector<MetricSeries>& series,
                    const std::vector<MetricDecision*>& decisions, const Rules& rules,
                    const GateOptions& options, const std::string& disturbed) {
  const std::vector<Evidence> all = evidence_for(series, decisions, rules, options);
  for (std::size_t i = 0; i < series.size(); ++i) {
    MetricDecision& decision = *decisions[i];
    if (!disturbed.empty()) {
      // Nor is it known that it is unchanged: the base's rounds may be the slow ones.
      decision.outcome = Outcome::inconclusive;
      decision.reason += " Of the fresh rounds: " + disturbed;
      continue;
    }
    const double effect = effect_for(find_rule(rules, series[i].name), options);
    const bool significant = *decision.adjusted_p <= options.alpha;
    if (!significant || all[i].worse <= 0 ||
        all[i].worse < least_effect(all[i], series[i], effect)) {
      decision.outcome = Outcome::unchanged;
      decision.reason += " Fresh rounds do not confirm it.";
      continue;
    }
    decision.reason = objection_to(series[i], all[i], options, effect);
    decision.outcome = decision.reason.empty() ? Outcome::regression : Outcome::inconclusive;
    if (decision.outcome == Outcome::regression)
      decision.reason =
          fmt::format("worse by {} in {} and {} fresh rounds ({}).", change_words(decision),
                      decision.base_runs, decision.head_runs, p_words(*decision.adjusted_p)) +
          clock_remark(series[i]);
  }
}

void judge_improvements(const std::vector<MetricSeries>& series,
                        const std::vector<MetricDecision*>& decisions, const Rules& rules,
                        const GateOptions& options, const std::string& disturbed) {
  std::vector<MetricSeries> turned;
  for (const MetricSeries& metric : series) turned.push_back(mirrored(metric));
  const std::vector<Evidence> all = evidence_for(turned, decisions, rules, options);
  for (std::size_t i = 0; i < series.size(); ++i) {
    MetricDecision& decision = *decisions[i];
    const double effect = effect_for(find_rule(rules, series[i].name), options);
    const bool improved = disturbed.empty() && *decision.adjusted_p <= options.alpha &&
                          all[i].worse > 0 && all[i].worse >= all[i].threshold &&
                          !clock_explanation(turned[i], all[i], options, effect);
    decision.outcome = improved ? Outcome::improved : Outcome::unchanged;
    decision.reason = improved ? fmt::format("better by {}.", change_words(decision))
                               : decision.reason + " Fresh rounds do not confirm it.";
    // Back to the direction in which everything else is told.
    Evidence& evidence = *decision.evidence;
    evidence.worse = -evidence.worse;
    evidence.interval = {-evidence.interval.high, -evidence.interval.low,
                         evidence.interval.confidence, evidence.interval.method};
  }
}

}  // namespace fathom::gate
