#include "gate/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "gate/evidence.h"
#include "gate/identity.h"
#include "gate/physics.h"
#include "gate/rank_statistics.h"
#include "gate/verdicts.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// With so many earlier runs a metric's family is taken to have shown how far it jumps; with fewer
/// it may jump farther, and with more the metric's own runs say most. By simulation
/// (docs/gate/simulation.md).
constexpr double runs_that_show_jumps = 10;

/// So many times what counts a single new result must be worse by: one process in some dozens has a
/// metric off by 1.5 % that is steady in all others, which no number of earlier runs tells from a
/// regression. By simulation as well.
constexpr double single_result_factor = 2;

/// What Holm's procedure is done over: one direction of all metrics.
struct Tests {
  std::vector<std::size_t> metrics;  ///< among the decisions
  std::vector<Evidence> evidence;
  std::vector<double> adjusted;

  void adjust() {
    std::vector<double> p;
    for (const Evidence& one : evidence) p.push_back(one.p);
    adjusted = holm_adjusted(p);
  }
};

/// What most of the last runs have: a single one may have been cut short, and what was taken out of
/// a suite is expected no longer after three runs without it.
std::unordered_set<std::string_view> expected_of(std::span<const RunMetrics> runs) {
  constexpr std::size_t last = 5;
  std::vector<const RunMetrics*> by_date;
  for (const RunMetrics& run : runs) by_date.push_back(&run);
  std::ranges::stable_sort(by_date, std::greater<>(), &RunMetrics::date);
  by_date.resize(std::min(by_date.size(), last));
  std::unordered_map<std::string_view, std::size_t> found;
  for (const RunMetrics* run : by_date)
    for (const MetricValue& metric : run->metrics) ++found[metric.name];
  std::unordered_set<std::string_view> expected;
  for (const auto& [name, times] : found)
    if (2 * times > by_date.size()) expected.insert(name);
  return expected;
}

/// What needs no test: as `first_decision`, and what the earlier runs or the new results do not all
/// have.
MetricDecision decision_without_test(const MetricSeries& series, const Rule* rule, bool is_expected,
                                     std::size_t results, const GateOptions& options) {
  MetricDecision decision = first_decision(series, rule);
  if (decision.outcome == Outcome::unchanged && series.head.size() < results) {
    decision.outcome = Outcome::missing;
    decision.reason = fmt::format("only {} of the {} new results have it.", series.head.size(), results);
  }
  if (decision.outcome == Outcome::missing && !is_expected) {
    decision.outcome = Outcome::unchanged;
    decision.reason = "most of the last runs of the baseline lack it.";
    return decision;
  }
  if (decision.outcome != Outcome::unchanged || series.base.size() >= fewest_baseline_runs)
    return decision;
  // Too few to say that it is worse, and no reason to say that it is not.
  const double effect = effect_for(rule, options);
  const Evidence evidence = evidence_of_rounds(series, options, effect);
  const bool worse =
      evidence.worse > 0 && evidence.worse >= least_effect(evidence, series, effect);
  decision.outcome = worse ? Outcome::inconclusive : Outcome::added;
  decision.reason = fmt::format(
      "{}only {} of the earlier runs {} it, and {} are needed to decide.",
      worse ? fmt::format("worse by {}, but ", change_words(decision)) : "", series.base.size(),
      series.base.size() == 1 ? "has" : "have", fewest_baseline_runs);
  return decision;
}

/// The metrics of one probe, or of one benchmark with all its arguments: "copy_bandwidth".
std::string_view family_of(std::string_view metric) { return metric.substr(0, metric.find('/')); }

/// How far, for each family, a metric was in one of the earlier runs from where it is in most, at
/// the most, where its noise does not explain it: two code paths or a buffer's place, chosen anew
/// by each process. Five runs of a metric that jumps once in ten may have none; those of its family
/// together have some.
using Jumps = std::unordered_map<std::string_view, double>;

Jumps largest_jumps(const std::vector<MetricSeries>& series, const GateOptions& options) {
  Jumps largest;
  for (const MetricSeries& metric : series) {
    const Badness values = badness_of(metric);
    if (!values.relative || values.base.size() < fewest_baseline_runs) continue;
    const double centre = median(values.base);
    const double explained = options.noise_factor * spread_of_sides(values.base, {});
    double& jump = largest[family_of(metric.name)];
    for (const double value : values.base) {
      const double distance = std::abs(value - centre);
      if (distance > explained) jump = std::max(jump, distance);
    }
  }
  return largest;
}

/// Why what is significant by the metric's own earlier runs may yet be the chance of one process;
/// empty: it is more than that.
std::string chance_of_a_process(const MetricSeries& series, const MetricDecision& decision,
                                const Jumps& jumps, const GateOptions& options, double effect) {
  const double worse = decision.evidence->worse;
  const auto jump = jumps.find(family_of(series.name));
  const double runs = static_cast<double>(series.base.size());
  if (jump != jumps.end() && worse < jump->second * runs_that_show_jumps / runs)
    return fmt::format(
        "worse by {}, but metrics of {} have jumped by up to {} between earlier runs: measure "
        "again, or use the paired mode.",
        change_words(decision), jump->first, format_percent(std::expm1(jump->second)));
  const double single = std::max(effect, single_result_factor * options.effect);
  if (series.head.size() == 1 && worse < std::log1p(single))
    return fmt::format(
        "worse by {}, and below {} a single result may be the chance of one process: measure again "
        "and "
        "give several, or use the paired mode.",
        change_words(decision), format_percent(single));
  return {};
}

void judge_worse(const std::vector<MetricSeries>& series, const Tests& tests, const Rules& rules,
                 CheckResult& result) {
  const auto jumps = largest_jumps(series, result.options);
  for (std::size_t i = 0; i < tests.metrics.size(); ++i) {
    const Evidence& evidence = tests.evidence[i];
    MetricDecision& decision = result.metrics[tests.metrics[i]];
    const MetricSeries& of_metric = series[tests.metrics[i]];
    decision.evidence = evidence;
    decision.adjusted_p = tests.adjusted[i];
    const double effect = effect_for(find_rule(rules, decision.name), result.options);
    if (tests.adjusted[i] > result.options.alpha || evidence.worse <= 0 ||
        evidence.worse < least_effect(evidence, of_metric, effect))
      continue;
    decision.reason = objection_to(of_metric, evidence, result.options, effect);
    if (decision.reason.empty() && evidence.relative)
      decision.reason = chance_of_a_process(of_metric, decision, jumps, result.options, effect);
    decision.outcome = decision.reason.empty() ? Outcome::regression : Outcome::inconclusive;
    if (decision.reason.empty())
      decision.reason =
          fmt::format("worse by {} than {} earlier runs ({}).{}", change_words(decision),
                      decision.base_runs, p_words(tests.adjusted[i]), clock_remark(of_metric));
  }
}

void judge_better(const Tests& tests, CheckResult& result) {
  for (std::size_t i = 0; i < tests.metrics.size(); ++i) {
    const Evidence& evidence = tests.evidence[i];
    MetricDecision& decision = result.metrics[tests.metrics[i]];
    if (tests.adjusted[i] > result.options.alpha || evidence.worse <= 0 ||
        evidence.worse < evidence.threshold)
      continue;
    decision.outcome = Outcome::improved;
    decision.adjusted_p = tests.adjusted[i];
    decision.reason = fmt::format("better by {}.", change_words(decision));
  }
}

}  // namespace

CheckResult check_stored(std::span<const RunMetrics> baseline, std::span<const RunMetrics> head,
                         const GateOptions& options, const Rules& rules) {
  CheckResult result;
  result.mode = "stored";
  result.options = options;
  result.rounds = head.size();
  result.refusals = refusals_of(head, {}, Allowed::nothing);
  if (!result.refusals.empty()) return result;
  if (!baseline.empty()) result.refusals = refusals_of(baseline, head, Allowed::nothing);
  if (!result.refusals.empty()) return result;
  if (baseline.size() < fewest_baseline_runs) {
    result.refusals.push_back(fmt::format(
        "the baseline has {} of this identity and {} are needed: add more with `fathom baseline "
        "add`",
        baseline.size() == 1 ? "1 run" : fmt::format("{} runs", baseline.size()),
        fewest_baseline_runs));
    return result;
  }
  const std::vector<MetricSeries> series = series_of(baseline, head);
  const auto expected = expected_of(baseline);
  Tests worse, better;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Rule* rule = find_rule(rules, series[i].name);
    MetricDecision decision = decision_without_test(
        series[i], rule, expected.contains(series[i].name), head.size(), options);
    if (decision.outcome == Outcome::unchanged && decision.reason.empty()) {
      const double effect = effect_for(rule, options);
      worse.metrics.push_back(i);
      worse.evidence.push_back(evidence_of_runs(series[i], options, effect));
      better.metrics.push_back(i);
      Evidence other = worse.evidence.back();
      if (-other.worse >= least_effect(other, series[i], effect))
        other = evidence_of_runs(mirrored(series[i]), options, effect);
      else
        other.p = 1, other.worse = -other.worse;
      better.evidence.push_back(other);
    }
    result.metrics.push_back(std::move(decision));
  }
  worse.adjust();
  better.adjust();
  judge_worse(series, worse, rules, result);
  judge_better(better, result);
  return result;
}

std::size_t leave_out_themselves(std::vector<RunMetrics>& baseline,
                                 std::span<const RunMetrics> head) {
  // A baseline keeps what is usable, without where it came from.
  const auto usable = [](const RunMetrics& run) {
    std::vector<MetricValue> kept;
    std::ranges::copy_if(run.metrics, std::back_inserter(kept),
                         [](const MetricValue& metric) { return metric.problem.empty(); });
    return kept;
  };
  return std::erase_if(baseline, [&](const RunMetrics& run) {
    return std::ranges::any_of(head, [&](const RunMetrics& one) {
      return !run.date.empty() && run.date == one.date && usable(run) == usable(one);
    });
  });
}

std::vector<std::string> why_none_like(const RunMetrics& run,
                                       const std::vector<RunMetrics>& others) {
  std::vector<std::string> least;
  for (const RunMetrics& other : others) {
    auto differences = differences_of(other, run, Allowed::nothing);
    if (least.empty() || differences.size() < least.size()) least = std::move(differences);
  }
  for (std::string& difference : least)
    difference = "the baseline has no run of this identity; different " + difference;
  return least;
}

}  // namespace fathom::gate
