#include "gate/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <ranges>

#include "gate/baseline.h"
#include "gate/history.h"
#include "gate/ranks.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Whether most of the last runs have it: a single one may have been cut short, and what was taken
/// out of a suite is expected no longer after three runs without it. A value with a problem is
/// none.
bool is_expected(const MetricSeries& series, std::size_t earlier) {
  const std::size_t newest = std::min<std::size_t>(earlier, 5);
  const auto having = std::ranges::count_if(
      series.base_runs, [&](std::size_t run) { return run + newest >= earlier; });
  return 2 * static_cast<std::size_t>(having) > newest;
}

/// What needs no test: as `first_decision`, and what the earlier runs or the new results do not all
/// have.
MetricDecision decision_without_test(const MetricSeries& series, std::size_t earlier,
                                     std::size_t results) {
  MetricDecision decision = first_decision(series);
  if (decision.outcome == Outcome::unchanged && series.head.size() < results)
    decision.decide(Outcome::missing,
                    fmt::format("it is in {} of the {} new results.", series.head.size(), results));
  if (decision.outcome == Outcome::missing && !is_expected(series, earlier)) {
    decision.decide(Outcome::unchanged, "most of the last runs of the baseline lack it.");
  } else if (decision.outcome == Outcome::unchanged && series.base.size() < fewest_baseline_runs) {
    // Too few to say that it is worse, and no reason to say that it is not.
    const OrientedSamples values = oriented(series);
    const double by = shift_of(values.base, values.head).estimate;
    const bool worse = by > 0 && by >= values.least;
    decision.decide(worse ? Outcome::inconclusive : Outcome::added,
                    fmt::format("{}it is in {} of the earlier runs, and {} are needed to decide.",
                                worse ? "worse by " + change_words(decision) + ", but " : "",
                                series.base.size(), fewest_baseline_runs));
  }
  return decision;
}

RunValues values_of(const MetricSeries& series, std::size_t earlier) {
  const OrientedSamples samples = oriented(series);
  RunValues values{.worse = std::vector(earlier, nan),
                   .follows = samples.relative && !is_ratio(series.unit, series.name),
                   .evidence = {.relative = samples.relative, .least = samples.least}};
  for (std::size_t i = 0; i < samples.base.size(); ++i)
    values.worse[series.base_runs[i]] = samples.base[i];
  values.worse.insert(values.worse.end(), samples.head.begin(), samples.head.end());
  const double centre = median(samples.base);
  for (double& value : values.worse) value -= centre;
  return values;
}

/// The metrics that are tested, and what is tested of each, have the same order.
struct StoredCheck {
  struct Tested {
    const MetricSeries& series;
    MetricDecision& decision;
    bool moved_along = false;  ///< with the machine
    bool witnessed = true;     ///< if it got worse, by more than the others; or nobody asks
  };

  std::span<const RunMetrics> baseline, head;
  const Rules& rules;
  const std::size_t earlier = baseline.size();
  CheckResult result{.mode = "stored", .rounds = head.size(), .alpha = stored_alpha};
  std::vector<MetricSeries> all{};
  std::vector<Tested> tested{};
  std::vector<RunValues> metrics{};
  bool machine_moved = false;
  std::size_t unwitnessed = 0;  ///< that would be regressions

  CheckResult run() {
    result.refusals = refusals_of(head, {});
    if (result.refusals.empty() && earlier > 0) result.refusals = refusals_of(baseline, head);
    if (result.refusals.empty() && earlier < fewest_baseline_runs)
      result.refusals.push_back(fmt::format(
          "the baseline has {} of this identity and {} are needed: add more with `fathom baseline "
          "add`",
          counted(earlier, "run"), fewest_baseline_runs));
    if (result.refusals.empty()) decide();
    return std::move(result);
  }

  void decide() {
    all = series_of(baseline, head, rules);
    result.metrics.reserve(all.size());
    for (const MetricSeries& series : all) {
      MetricDecision& decision =
          result.metrics.emplace_back(decision_without_test(series, earlier, head.size()));
      if (decision.outcome != Outcome::unchanged || !decision.reason.empty()) continue;
      tested.push_back({series, decision});
      metrics.push_back(values_of(series, earlier));
    }
    const std::string drift = drift_words();
    const auto factor = take_out_common_factor(metrics, earlier);
    const double counts = std::log1p(effect_that_counts);
    machine_moved =
        factor && std::abs(factor->head) >= counts && std::abs(factor->beyond) >= counts / 2;
    if (machine_moved) blame_machine(*factor);
    std::vector<RunValues> turned = metrics;  // so that what is better ranks as worse
    for (RunValues& metric : turned)
      for (double& value : metric.worse) value = -value;
    rank_runs(metrics, earlier, stored_alpha);
    rank_runs(turned, earlier, stored_alpha);
    if (!factor) find_witnesses();
    for (std::size_t i = 0; i < tested.size(); ++i) {
      MetricDecision& decision = tested[i].decision;
      const Evidence& evidence = decision.evidence.emplace(metrics[i].evidence);
      const bool better = evidence.worse_by < 0 && -evidence.worse_by >= evidence.least;
      if (evidence.is_worse() || better) judge(tested[i], better ? turned[i] : metrics[i], better);
      if (tested[i].moved_along && decision.outcome == Outcome::unchanged)
        decision.decide(Outcome::undecided,
                        "it moved as most metrics did; its change is what is beside that.");
    }
    if (unwitnessed > 0 && count(result, Outcome::regression) == 0)
      result.refusals.push_back(fmt::format(
          "{} of {} metrics got worse, and not surely more than the others: with so few, slower "
          "code cannot be told from a slower machine; compare with --base and --head",
          unwitnessed, followers()));
    if (exit_code(result) == ExitCode::ok) tell_what_would_pass();
    if (!drift.empty()) result.notes.push_back(drift);
  }

  std::ptrdiff_t followers() const { return std::ranges::count_if(metrics, &RunValues::follows); }

  /// Where metrics are too few for a common factor, what got worse is also ranked by how much more
  /// than the median of the others in the same runs, which no machine changes. Of several
  /// results at twice the level: it is asked beside the first, so at most 2 % of the suites on a
  /// slower machine are false alarms.
  void find_witnesses() {
    const auto all = static_cast<std::size_t>(followers());
    if (all == 0) return;
    if (all == 1 || all >= fewest_for_common_factor) {  // these lack runs
      result.notes.push_back(
          "a slower machine cannot be told from slower code: too few metrics are there, or in all "
          "runs");
      return;
    }
    std::vector<RunValues> beside;
    std::vector<Tested*> asked;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (!metrics[i].sure || !metrics[i].follows) continue;
      tested[i].witnessed = false;
      RunValues values = beside_others(i);
      const auto lacking =
          std::ranges::count_if(values.worse, [](double x) { return std::isnan(x); });
      if (earlier < static_cast<std::size_t>(lacking) + fewest_baseline_runs) continue;
      asked.push_back(&tested[i]);
      beside.push_back(std::move(values));
    }
    rank_runs(beside, earlier, result.rounds > 1 ? 2 * stored_alpha : stored_alpha);
    for (std::size_t i = 0; i < asked.size(); ++i)
      asked[i]->witnessed = beside[i].sure && beside[i].evidence.is_worse();
  }

  RunValues beside_others(std::size_t place) const {
    RunValues beside = metrics[place];
    for (std::size_t run = 0; run < beside.worse.size(); ++run) {
      std::vector<double> others;
      for (const RunValues& other : metrics)
        if (&other != &metrics[place] && other.follows && !std::isnan(other.worse[run]))
          others.push_back(other.worse[run]);
      beside.worse[run] -= median_or_none(others).value_or(nan);
    }
    return beside;
  }

  /// What moved everything alike is no change of one metric; a change of them all may be either.
  void blame_machine(const CommonFactor& factor) {
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const double own = median(std::span(metrics[i].worse).subspan(earlier)) + factor.head;
      const double along = factor.head > 0 ? own : -own;
      tested[i].moved_along = metrics[i].follows && along >= metrics[i].evidence.least / 2;
    }
    result.refusals.push_back(fmt::format(
        "{} of {} metrics together are {} {} than in the {} earlier runs: that is the machine, or "
        "everything that they share, and no metric's own change",
        std::ranges::count_if(tested, &Tested::moved_along), followers(),
        format_percent(std::abs(std::expm1(factor.head))), factor.head > 0 ? "worse" : "better",
        earlier));
  }

  void judge(Tested& one, const RunValues& rank, bool better) {
    if (!rank.sure && !rank.suspect) return;
    MetricDecision& decision = one.decision;
    const std::string by =
        fmt::format("{} by {}", better ? "better" : "worse", change_words(decision));
    const Outcome unsure = better ? Outcome::undecided : Outcome::inconclusive;
    const std::string clock = better ? "" : clock_explanation(one.series, *decision.evidence);
    if (machine_moved) {
      decision.decide(unsure, by + " beside what most metrics moved by.");
    } else if (!clock.empty()) {
      decision.decide(unsure, clock);
    } else if (!rank.sure) {
      decision.decide(unsure,
                      fmt::format("{}, more than any metric differed between the {} "
                                  "earlier runs, but {} cannot be sure: {}.",
                                  by, earlier, counted(result.rounds, "result"), give_more()));
    } else if (better) {
      decision.evidence->p = rank.evidence.p;
      decision.decide(Outcome::improved, by + ".");
    } else if (!one.witnessed) {
      ++unwitnessed;
      decision.decide(unsure, by + ", but not surely more than the others.");
    } else {
      decision.decide(Outcome::regression, fmt::format("{} than {} earlier runs (p = {:.2g}).", by,
                                                       decision.base_runs, rank.evidence.p));
    }
  }

  std::string give_more() const {
    return fmt::format("give {} more of the same commit",
                       results_needed(earlier, result.rounds, stored_alpha) - result.rounds);
  }

  /// Nothing, where even the steadiest metric would have passed 5 %, and more than a rule lets
  /// count.
  void tell_what_would_pass() {
    const std::string words = what_would_pass(result);
    if (words.empty()) return;
    double least = std::numeric_limits<double>::infinity();
    bool blind = true;
    for (const Tested& one : tested) {
      const Evidence& evidence = *one.decision.evidence;
      if (!evidence.relative) continue;
      least = std::min(least, evidence.threshold);
      blind = blind && evidence.threshold > std::max(std::log1p(0.05), evidence.least);
    }
    if (!blind) return result.notes.push_back(words);
    const bool too_few = smallest_rank_p(earlier, result.rounds) > stored_alpha;
    result.refusals.push_back(fmt::format(
        "nothing could be seen: the earlier runs differ so much that even in the steadiest metric "
        "a slowdown below {} would have passed: {}",
        format_percent(std::expm1(least)),
        too_few ? give_more() : "keep more earlier runs, or compare with --base and --head"));
  }

  /// Which metrics drift: those whose earlier runs already lead away, as `history` sees them.
  /// Empty: none.
  std::string drift_words() const {
    std::vector<HistoryChange> found;
    for (std::size_t i = 0; i < tested.size(); ++i)
      if (drifts(metrics[i], earlier))
        std::ranges::copy_if(changes_of(tested[i].series), std::back_inserter(found),
                             [](const auto& change) { return change.drift && change.worse; });
    if (found.empty()) return "";
    const HistoryChange& largest = *std::ranges::max_element(found, {}, &HistoryChange::size);
    return fmt::format("a drift for the worse in {}, {} the most, by {}: see `fathom history`",
                       counted(found.size(), "metric"), largest.metric,
                       format_percent(std::abs(largest.relative())));
  }
};

}  // namespace

CheckResult check_stored(std::span<const RunMetrics> baseline, std::span<const RunMetrics> head,
                         const Rules& rules) {
  return StoredCheck{baseline, head, rules}.run();
}

std::size_t leave_out_themselves(std::vector<RunMetrics>& baseline,
                                 std::span<const RunMetrics> head) {
  return std::erase_if(baseline, [&](const RunMetrics& run) {
    return std::ranges::any_of(head, [&](const RunMetrics& one) {
      return !run.date.empty() && run.date == one.date && baseline_text(run) == baseline_text(one);
    });
  });
}

std::vector<std::string> why_none_like(const RunMetrics& run,
                                       const std::vector<RunMetrics>& others) {
  const auto closest = std::ranges::min_element(
      others, {}, [&](const RunMetrics& other) { return differences_of(other, run).size(); });
  std::vector<std::string> sentences;
  for (const Difference& difference : differences_of(*closest, run))
    sentences.push_back("the baseline has no run of this identity; different " +
                        difference.words());
  return sentences;
}

}  // namespace fathom::gate
