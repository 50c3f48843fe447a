#include "gate/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <ranges>

#include "gate/history.h"
#include "gate/ranks.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Whether most of the last runs have it: a single one may have been cut short, and what was taken
/// out of a suite is expected no longer after three runs without it.
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
                   .least = samples.least,
                   .follows = samples.relative && !is_ratio(series.unit, series.name),
                   .relative = samples.relative};
  for (std::size_t i = 0; i < samples.base.size(); ++i)
    values.worse[series.base_runs[i]] = samples.base[i];
  values.worse.insert(values.worse.end(), samples.head.begin(), samples.head.end());
  const double centre = median(samples.base);
  for (double& value : values.worse) value -= centre;
  return values;
}

/// What is tested. The metrics' values, ranks and decisions have the same order.
class StoredCheck {
 public:
  StoredCheck(std::span<const RunMetrics> baseline, std::span<const RunMetrics> head,
              const Rules& rules, CheckResult& result)
      : all_(series_of(baseline, head, rules)), earlier_(baseline.size()), result_(result) {
    result_.metrics.reserve(all_.size());
    for (const MetricSeries& series : all_) {
      MetricDecision& decision =
          result_.metrics.emplace_back(decision_without_test(series, earlier_, head.size()));
      if (decision.outcome != Outcome::unchanged || !decision.reason.empty()) continue;
      tested_.push_back({series, decision});
      values_.push_back(values_of(series, earlier_));
    }
  }

  void decide() {
    const std::string drift = drift_words();
    const auto factor = take_out_common_factor(values_, earlier_);
    const double counts = std::log1p(effect_that_counts);
    machine_moved_ =
        factor && std::abs(factor->head) >= counts && std::abs(factor->beyond) >= counts / 2;
    if (machine_moved_) blame_machine(*factor);
    const auto ranks = rank_runs(values_, earlier_, stored_alpha);
    std::vector<RunValues> turned = values_;  // so that what is better ranks as worse
    for (RunValues& metric : turned)
      for (double& value : metric.worse) value = -value;
    const auto ranks_of_better = rank_runs(turned, earlier_, stored_alpha);
    if (!factor) find_witnesses(ranks);
    for (std::size_t i = 0; i < tested_.size(); ++i) {
      MetricDecision& decision = tested_[i].decision;
      const Evidence& evidence = decision.evidence.emplace(ranks[i].evidence);
      decision.adjusted_p = evidence.p;
      const bool better = evidence.worse < 0 && -evidence.worse >= evidence.least;
      if (evidence.is_worse() || better)
        judge(tested_[i], better ? ranks_of_better[i] : ranks[i], better);
      if (tested_[i].moved_along && decision.outcome == Outcome::unchanged)
        decision.decide(Outcome::undecided,
                        "it moved as most metrics did; its change is what is beside that.");
    }
    if (unwitnessed_ > 0 && count(result_, Outcome::regression) == 0)
      result_.refusals.push_back(fmt::format(
          "{} of {} metrics got worse, and not surely more than the others: with so few, slower "
          "code cannot be told from a slower machine; compare with --base and --head",
          unwitnessed_, followers()));
    if (exit_code(result_) == ExitCode::ok) tell_what_would_pass();
    if (!drift.empty()) result_.notes.push_back(drift);
  }

 private:
  struct Tested {
    const MetricSeries& series;
    MetricDecision& decision;
    bool moved_along = false;  ///< with the machine
    bool witnessed = true;     ///< if it got worse, by more than the others; or nobody asks
  };

  std::ptrdiff_t followers() const { return std::ranges::count_if(values_, &RunValues::follows); }

  /// Where metrics are too few for a common factor, what got worse is also ranked by how much more
  /// than the median of the others in the same runs, which no machine changes. Of several
  /// results at twice the level: it is asked beside the first, so at most 2 % of the suites on a
  /// slower machine are false alarms.
  void find_witnesses(const std::vector<RunRank>& ranks) {
    const auto all = static_cast<std::size_t>(followers());
    if (all == 0) return;
    if (all == 1 || all >= fewest_for_common_factor) {  // these lack runs
      result_.notes.push_back(
          "a slower machine cannot be told from slower code: too few metrics are there, or in all "
          "runs");
      return;
    }
    std::vector<RunValues> beside;
    std::vector<Tested*> asked;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!ranks[i].sure || !values_[i].follows) continue;
      tested_[i].witnessed = false;
      RunValues values = beside_others(i);
      const auto lacking =
          std::ranges::count_if(values.worse, [](double x) { return std::isnan(x); });
      if (earlier_ < static_cast<std::size_t>(lacking) + fewest_baseline_runs) continue;
      asked.push_back(&tested_[i]);
      beside.push_back(std::move(values));
    }
    const auto ranks_beside =
        rank_runs(beside, earlier_, result_.rounds > 1 ? 2 * stored_alpha : stored_alpha);
    for (std::size_t i = 0; i < asked.size(); ++i)
      asked[i]->witnessed = ranks_beside[i].sure && ranks_beside[i].evidence.is_worse();
  }

  RunValues beside_others(std::size_t place) const {
    RunValues beside = values_[place];
    for (std::size_t run = 0; run < beside.worse.size(); ++run) {
      std::vector<double> others;
      for (const RunValues& other : values_)
        if (&other != &values_[place] && other.follows && !std::isnan(other.worse[run]))
          others.push_back(other.worse[run]);
      beside.worse[run] -= median_or_none(others).value_or(nan);
    }
    return beside;
  }

  /// What moved everything alike is no change of one metric; a change of them all may be either.
  void blame_machine(const CommonFactor& factor) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double own = median(std::span(values_[i].worse).subspan(earlier_)) + factor.head;
      const double along = factor.head > 0 ? own : -own;
      tested_[i].moved_along = values_[i].follows && along >= values_[i].least / 2;
    }
    double most = 0;
    for (const double value : std::span(factor.of_runs).first(earlier_))
      most = std::max(most, std::abs(value));
    result_.refusals.push_back(fmt::format(
        "{} of {} metrics together are {} {} than in the {} earlier runs, which differed by {} at "
        "most: that is the machine, or everything that they share, and no metric's own change",
        std::ranges::count_if(tested_, &Tested::moved_along), followers(),
        format_percent(std::abs(std::expm1(factor.head))), factor.head > 0 ? "worse" : "better",
        earlier_, format_percent(std::expm1(most))));
  }

  void judge(Tested& tested, const RunRank& rank, bool better) {
    if (!rank.sure && !rank.suspect) return;
    MetricDecision& decision = tested.decision;
    const std::string by =
        fmt::format("{} by {}", better ? "better" : "worse", change_words(decision));
    const Outcome unsure = better ? Outcome::undecided : Outcome::inconclusive;
    const std::string clock = better ? "" : clock_explanation(tested.series, *decision.evidence);
    if (machine_moved_) {
      decision.decide(unsure, by + " beside what most metrics moved by.");
    } else if (!clock.empty()) {
      decision.decide(unsure, clock);
    } else if (!rank.sure) {
      decision.decide(unsure,
                      fmt::format("{}, more than any metric differed between the {} "
                                  "earlier runs, but {} cannot be sure: {}.",
                                  by, earlier_, counted(result_.rounds, "result"), give_more()));
    } else if (better) {
      decision.adjusted_p = rank.evidence.p;
      decision.decide(Outcome::improved, by + ".");
    } else if (!tested.witnessed) {
      ++unwitnessed_;
      decision.decide(unsure, by + ", but not surely more than the others.");
    } else {
      decision.decide(Outcome::regression,
                      fmt::format("{} than {} earlier runs ({}).", by, decision.base_runs,
                                  p_words(rank.evidence.p)));
    }
  }

  std::string give_more() const {
    return fmt::format("give {} more of the same commit",
                       results_needed(earlier_, result_.rounds, stored_alpha) - result_.rounds);
  }

  /// Nothing, where even the steadiest metric would have passed 5 %, and more than a rule lets
  /// count.
  void tell_what_would_pass() {
    const std::string words = what_would_pass(result_);
    if (words.empty()) return;
    double least = std::numeric_limits<double>::infinity();
    bool blind = true;
    for (const Tested& tested : tested_) {
      const Evidence& evidence = *tested.decision.evidence;
      if (!evidence.relative) continue;
      least = std::min(least, evidence.threshold);
      blind = blind && evidence.threshold > std::max(std::log1p(0.05), evidence.least);
    }
    if (!blind) return result_.notes.push_back(words);
    const bool too_few = smallest_rank_p(earlier_, result_.rounds) > stored_alpha;
    result_.refusals.push_back(fmt::format(
        "nothing could be seen: the earlier runs differ so much that even in the steadiest metric "
        "a slowdown below {} would have passed: {}",
        format_percent(std::expm1(least)),
        too_few ? give_more() : "keep more earlier runs, or compare with --base and --head"));
  }

  /// Which metrics drift: those whose earlier runs already lead away, as `history` sees them.
  /// Empty: none.
  std::string drift_words() const {
    std::vector<HistoryChange> found;
    for (std::size_t i = 0; i < tested_.size(); ++i)
      if (drifts(values_[i], earlier_))
        std::ranges::copy_if(changes_of(tested_[i].series), std::back_inserter(found),
                             [](const auto& change) { return change.drift && change.worse; });
    if (found.empty()) return "";
    const HistoryChange& largest = *std::ranges::max_element(found, {}, &HistoryChange::size);
    return fmt::format("a drift for the worse in {}, {} the most, by {}: see `fathom history`",
                       counted(found.size(), "metric"), largest.metric,
                       format_percent(std::abs(largest.relative())));
  }

  const std::vector<MetricSeries> all_;
  std::size_t earlier_;
  CheckResult& result_;
  std::vector<Tested> tested_;
  std::vector<RunValues> values_;
  bool machine_moved_ = false;
  std::size_t unwitnessed_ = 0;  ///< that would be regressions
};

}  // namespace

CheckResult check_stored(std::span<const RunMetrics> baseline, std::span<const RunMetrics> head,
                         const Rules& rules) {
  CheckResult result;
  result.mode = "stored";
  result.alpha = stored_alpha;
  result.rounds = head.size();
  result.refusals = refusals_of(head, {});
  if (result.refusals.empty() && !baseline.empty()) result.refusals = refusals_of(baseline, head);
  if (!result.refusals.empty()) return result;
  if (baseline.size() < fewest_baseline_runs) {
    result.refusals.push_back(fmt::format(
        "the baseline has {} of this identity and {} are needed: add more with `fathom baseline "
        "add`",
        counted(baseline.size(), "run"), fewest_baseline_runs));
    return result;
  }
  StoredCheck(baseline, head, rules, result).decide();
  return result;
}

std::size_t leave_out_themselves(std::vector<RunMetrics>& baseline,
                                 std::span<const RunMetrics> head) {
  // A baseline keeps what is usable, without where it came from.
  const auto usable = [](std::vector<MetricValue> metrics) {
    std::erase_if(metrics, [](const MetricValue& metric) { return !metric.problem.empty(); });
    return metrics;
  };
  return std::erase_if(baseline, [&](const RunMetrics& run) {
    return std::ranges::any_of(head, [&](const RunMetrics& one) {
      return !run.date.empty() && run.date == one.date &&
             usable(run.metrics) == usable(one.metrics);
    });
  });
}

std::vector<std::string> why_none_like(const RunMetrics& run,
                                       const std::vector<RunMetrics>& others) {
  std::vector<Difference> least;
  for (const RunMetrics& other : others) {
    auto differences = differences_of(other, run);
    if (least.empty() || differences.size() < least.size()) least = std::move(differences);
  }
  std::vector<std::string> sentences;
  for (const Difference& difference : least)
    sentences.push_back("the baseline has no run of this identity; different " +
                        difference.words());
  return sentences;
}

}  // namespace fathom::gate
