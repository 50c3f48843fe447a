#include "reports/gate/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "reports/gate/disturbance.h"
#include "reports/gate/evidence.h"
#include "reports/gate/identity.h"
#include "reports/gate/rank_statistics.h"
#include "reports/gate/verdicts.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

/// A metric that looks worse by this share of what counts is measured again.
constexpr double suspicious_share = 0.5;
constexpr std::size_t controls_wanted = 8, improvements_shown = 8;
constexpr int fewest_confirmation_rounds = 6, most_confirmation_rounds = 20;

struct Candidate {
  std::size_t index;  ///< among the decisions
  double severity;    ///< how many times what counts
};

bool worst_first(const Candidate& a, const Candidate& b) { return a.severity > b.severity; }

class PairedCheck {
 public:
  PairedCheck(RoundSource& source, const PairedOptions& options, const Rules& rules)
      : source_(source), options_(options), rules_(rules) {
    result_.mode = "paired";
    result_.options = options.gate;
  }

  CheckResult check() {
    Rounds all;
    run(options_.rounds, options_.seed, {}, all);
    result_.rounds = all.base.size();
    if (comparable_) decide(all);
    result_.elapsed_s = source_.elapsed_s();
    return std::move(result_);
  }

 private:
  /// Stops at rounds that cannot be compared: the others would be no better.
  void run(int rounds, std::uint64_t seed, const std::vector<std::string>& only, Rounds& to) {
    for (const Side side : round_order(rounds, seed)) {
      (side == Side::base ? to.base : to.head).push_back(source_.round(side, only));
      const auto refusals = refusals_of(to.base, to.head, Allowed::software);
      comparable_ = refusals.empty();
      if (comparable_) continue;
      result_.refusals.insert(result_.refusals.end(), refusals.begin(), refusals.end());
      return;
    }
  }

  void decide(const Rounds& all) {
    series_ = series_of(all.base, all.head);
    screening_s_ = source_.elapsed_s();
    for (const MetricSeries& series : series_) {
      result_.metrics.push_back(first_decision(series, find_rule(rules_, series.name)));
      screen(series, result_.metrics.back());
    }
    if (stop_if_disturbed(all)) return;
    choose();
    if (suspects_.empty() && improvements_.empty()) return;
    std::vector<std::string> names;
    for (const auto* group : {&suspects_, &improvements_, &controls_})
      for (const Candidate& candidate : *group) names.push_back(series_[candidate.index].name);
    Rounds fresh;
    run(confirmations_, options_.seed + 0x9e3779b97f4a7c15u, names, fresh);
    if (!comparable_) return;
    result_.confirmation_rounds = fresh.base.size();
    confirm(all, fresh);
  }

  double effect_of(const MetricSeries& series) const {
    return effect_for(find_rule(rules_, series.name), options_.gate);
  }

  void screen(const MetricSeries& series, MetricDecision& decision) {
    if (decision.outcome != Outcome::unchanged) return;
    decision.evidence = evidence_of_rounds(series, options_.gate, effect_of(series));
    const Evidence& evidence = *decision.evidence;
    const double counts = least_effect(evidence, series, effect_of(series));
    const double limit = std::max(suspicious_share * counts, evidence.noise_floor);
    const std::size_t index = result_.metrics.size() - 1;
    const double severity = evidence.worse / std::max(counts, 1e-300);
    if (evidence.worse > limit)
      suspects_.push_back({index, severity});
    else if (-evidence.worse > std::max(counts, evidence.noise_floor))
      improvements_.push_back({index, -severity});
    else if (evidence.relative)
      controls_.push_back({index, -options_.gate.noise_factor * evidence.noise_floor / counts});
  }

  /// A few of all kinds, since a load may leave one kind alone: evenly over the run's order, in
  /// which like stands beside like, those whose noise is below what counts; only where these are
  /// too few, the least noisy of the others as well.
  void choose_controls() {
    const auto quiet = [](const Candidate& control) { return control.severity >= -1; };
    std::stable_partition(controls_.begin(), controls_.end(), quiet);
    const auto noisy = std::find_if_not(controls_.begin(), controls_.end(), quiet);
    std::stable_sort(noisy, controls_.end(), worst_first);
    const auto enough =
        std::max<std::size_t>(static_cast<std::size_t>(noisy - controls_.begin()), controls_wanted);
    controls_.resize(std::min(controls_.size(), enough));
    if (controls_.size() <= controls_wanted) return;
    std::vector<Candidate> chosen;
    for (std::size_t i = 0; i < controls_wanted; ++i)
      chosen.push_back(controls_[i * controls_.size() / controls_wanted]);
    controls_ = std::move(chosen);
  }

  /// What the fresh rounds are to measure, the worst first, and how many rounds: what fits in.
  void choose() {
    for (auto* group : {&suspects_, &improvements_})
      std::stable_sort(group->begin(), group->end(), worst_first);
    choose_controls();
    improvements_.resize(std::min(improvements_.size(), improvements_shown));
    std::size_t fit = std::min(suspects_.size(), options_.max_suspects);
    while (fit > 1 && 2 * rounds_for(fit) * round_s(fit) > options_.time_limit_s - screening_s_)
      --fit;
    for (std::size_t i = fit; i < suspects_.size(); ++i) {
      MetricDecision& decision = result_.metrics[suspects_[i].index];
      decision.outcome = Outcome::inconclusive;
      decision.reason = fmt::format(
          "it looked worse by {}, but was not measured again: {} suspects looked worse than it, "
          "and "
          "that is what the time limit of {} and the limit of {} suspects leave room for.",
          change_words(decision), fit, format_time(options_.time_limit_s), options_.max_suspects);
    }
    suspects_.resize(fit);
    confirmations_ = rounds_for(std::max<std::size_t>(fit, improvements_.size()));
  }

  int rounds_for(std::size_t suspects) const {
    return options_.confirmation_rounds > 0
               ? options_.confirmation_rounds
               : confirmation_rounds_for(suspects, options_.gate.alpha);
  }

  /// Expected seconds of one round of the first `suspects` and what goes with them.
  double round_s(std::size_t suspects) const {
    const double whole = screening_s_ / (2.0 * static_cast<double>(result_.rounds));
    if (!source_.can_select()) return whole;
    const auto time_of = [&](const Candidate& candidate) {
      const MetricSeries& series = series_[candidate.index];
      return series.base.empty() ? 0 : series.base.front().elapsed_s;
    };
    double measuring = 0, chosen = 0;
    for (const MetricSeries& series : series_)
      measuring += series.base.empty() ? 0 : series.base.front().elapsed_s;
    for (std::size_t i = 0; i < suspects; ++i) chosen += time_of(suspects_[i]);
    for (const Candidate& candidate : improvements_) chosen += time_of(candidate);
    for (const Candidate& candidate : controls_) chosen += time_of(candidate);
    return std::min(whole, std::max(0.0, whole - measuring) + chosen);
  }

  void confirm(const Rounds& before, const Rounds& fresh) {
    const std::vector<MetricSeries> again = series_of(fresh.base, fresh.head);
    const auto find = [&](const Candidate& candidate) -> const MetricSeries* {
      const auto found = std::find_if(again.begin(), again.end(), [&](const MetricSeries& series) {
        return series.name == series_[candidate.index].name;
      });
      return found == again.end() ? nullptr : &*found;
    };
    std::vector<MetricSeries> steady;
    for (const Candidate& control : controls_)
      if (const MetricSeries* series = find(control)) steady.push_back(*series);
    std::string disturbed = disturbance_of_fresh(fresh, before, steady);
    if (!disturbed.empty()) {
      disturbed += ": the machine was disturbed.";
      result_.notes.push_back("of the fresh rounds: " + disturbed);
    }

    std::vector<MetricSeries> worse, better;
    std::vector<MetricDecision*> of_worse, of_better;
    for (const auto* group : {&suspects_, &improvements_}) {
      for (const Candidate& candidate : *group) {
        MetricDecision& decision = result_.metrics[candidate.index];
        const MetricSeries* series = find(candidate);
        const std::string before = change_words(decision);
        if (!series || series->head.empty() || series->base.empty() || !series->problem.empty()) {
          decision.outcome = series && series->problem.empty() && series->base.empty()
                                 ? Outcome::inconclusive
                                 : Outcome::missing;
          decision.reason = "it was not there when it was measured again.";
          continue;
        }
        const bool suspect = group == &suspects_;
        (suspect ? worse : better).push_back(*series);
        (suspect ? of_worse : of_better).push_back(&decision);
        decision.reason =
            fmt::format("it looked {} by {} at first.", suspect ? "worse" : "better", before);
      }
    }
    judge_suspects(worse, of_worse, rules_, options_.gate, disturbed);
    judge_improvements(better, of_better, rules_, options_.gate, disturbed);
  }

  /// Where the first rounds were disturbed, the fresh ones would look for the wrong suspects.
  bool stop_if_disturbed(const Rounds& all) {
    const std::string why = disturbance_of(all, series_);
    if (why.empty()) return false;
    result_.refusals.push_back(why + ": the machine was disturbed, measure again");
    for (const Candidate& suspect : suspects_) {
      MetricDecision& decision = result_.metrics[suspect.index];
      decision.outcome = Outcome::inconclusive;
      decision.reason = fmt::format("it looked worse by {}, but the machine was disturbed.",
                                    change_words(decision));
    }
    return true;
  }

  RoundSource& source_;
  const PairedOptions& options_;
  const Rules& rules_;
  CheckResult result_;
  std::vector<MetricSeries> series_;
  std::vector<Candidate> suspects_, improvements_, controls_;
  bool comparable_ = true;
  int confirmations_ = 0;
  double screening_s_ = 0;
};

}  // namespace

std::vector<Side> round_order(int rounds, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<Side> order;
  for (int block = 0; block < rounds / 2; ++block) {
    const bool base_first = (generator() >> 63) == 0;
    const Side outer = base_first ? Side::base : Side::head;
    const Side inner = base_first ? Side::head : Side::base;
    order.insert(order.end(), {outer, inner, inner, outer});
  }
  return order;
}

int confirmation_rounds_for(std::size_t suspects, double alpha) {
  constexpr double spare = 4;
  const double family = static_cast<double>(std::max<std::size_t>(suspects, 1));
  int rounds = fewest_confirmation_rounds;
  while (rounds < most_confirmation_rounds &&
         smallest_rank_p(static_cast<std::size_t>(rounds), static_cast<std::size_t>(rounds)) *
                 family * spare >
             alpha)
    rounds += 2;
  return rounds;
}

CheckResult check_paired(RoundSource& source, const PairedOptions& options, const Rules& rules) {
  return PairedCheck(source, options, rules).check();
}

}  // namespace fathom::gate
