#include "gate/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "gate/identity.h"
#include "gate/rank_statistics.h"
#include "gate/verdicts.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

constexpr int fewest_confirmation_rounds = 6, most_confirmation_rounds = 20;

const MetricSeries* find_series(const std::vector<MetricSeries>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &MetricSeries::name);
  return found == all.end() ? nullptr : &*found;
}

class Confirmation {
 public:
  Confirmation(PairedRun& run, Candidates candidates, const Rounds& before, double overhead_s)
      : run_(run), before_(before), overhead_s_(overhead_s), open_(std::move(candidates)) {}

  void decide() {
    leave_to_time(rounds_of_block, 0);
    never_measured_ = late_.size();
    if (something_is_open()) {
      const int rounds = all_rounds();
      all_ = open_;
      const bool comparable = measure_until_quiet(rounds);
      run_.result.confirmation_rounds = fresh_.base.size();
      if (comparable)
        judge();
      else
        tell_refused();
    }
    tell_late();
  }

 private:
  /// A suspect for which there was no time.
  struct Late {
    std::size_t index, before_it;
    std::string change;
  };

  bool something_is_open() const { return !open_.suspects.empty() || !open_.improvements.empty(); }

  /// Rounds per side. Improvements, which decide nothing, are measured with suspects only where
  /// that fits into the time.
  int all_rounds() {
    const std::size_t suspects = open_.suspects.size();
    if (suspects > 0 && !open_.improvements.empty()) {
      const int rounds = confirmation_rounds_for(std::max(suspects, open_.improvements.size()));
      if (2 * rounds * round_s(suspects) > run_.left_s()) open_.improvements.clear();
    }
    const std::size_t tests = std::max(suspects, open_.improvements.size());
    if (run_.options.confirmation_rounds == 0)
      return rounds_for_noise(confirmation_rounds_for(tests));
    const int least = confirmation_rounds_for(tests, 1);
    if (run_.options.confirmation_rounds < least)
      run_.result.notes.push_back(
          fmt::format("{} fresh rounds a side cannot be sure of {}: as many as {} were taken.",
                      run_.options.confirmation_rounds, counted(tests, "suspect"), least));
    return rounds_for_noise(std::max(run_.options.confirmation_rounds, least));
  }

  /// As many as the noise takes, as far as the time goes.
  int rounds_for_noise(int rounds) const {
    const int wanted =
        rounds_against_noise(rounds, usual_spread(series_of(before_.base, before_.head)));
    while (rounds < wanted && 2 * (rounds + 2) * round_s(open_.suspects.size()) <= run_.left_s())
      rounds += 2;
    return rounds;
  }

  std::string disturbance(const std::vector<MetricSeries>& again) const {
    std::vector<MetricSeries> steady;
    for (const Candidate& control : all_.controls)
      if (const MetricSeries* series = find_series(again, decision_of(control).name))
        steady.push_back(*series);
    return disturbance_of_fresh(fresh_, before_, steady);
  }

  std::vector<MetricSeries> series_again() const {
    return series_of(fresh_.base, fresh_.head, run_.rules);
  }

  /// What the controls say, and not the suspects, decides whether rounds count.
  bool measure_until_quiet(int rounds) {
    const Candidates wanted = all_;
    while (true) {
      const double began_s = run_.source.elapsed_s();
      if (!measure(rounds)) return false;
      const double took_s = run_.source.elapsed_s() - began_s;
      if (!run_.options.replace_disturbed || disturbance(series_again()).empty() ||
          late_.size() > never_measured_ ||
          run_.source.elapsed_s() + took_s > run_.options.time_limit_s)
        return true;
      all_ = open_ = wanted;
      fresh_ = {};
      ++discarded_;
    }
  }

  /// Whether the sides stayed comparable.
  bool measure(int rounds) {
    const std::vector<Side> order = round_order(rounds, run_.options.seed + 0x9e3779b97f4a7c15u);
    for (std::size_t done = 0; done < order.size(); done += rounds_of_block) {
      if (done > 0) {
        const std::size_t left = order.size() - done;
        const std::vector<MetricSeries> again = series_again();
        // While the machine looks disturbed nothing is settled: more rounds may show otherwise.
        if (disturbance(again).empty()) {
          settle(again, open_.suspects, false, all_.suspects.size(), left / 2);
          settle(again, open_.improvements, true, all_.improvements.size(), left / 2);
        }
        // Two blocks settle most of those that are nothing: until then only the next has to fit.
        const bool early = done < 2 * rounds_of_block;
        leave_to_time(early ? rounds_of_block : left, early ? left - rounds_of_block : 0);
      }
      if (!something_is_open()) break;
      const Taken taken = measure_block(std::span(order).subspan(done, rounds_of_block));
      if (taken == Taken::not_comparable) return false;
      if (taken == Taken::all) continue;
      // Part of a block would favour one side in a drift.
      for (auto* side : {&fresh_.base, &fresh_.head}) side->resize(done / 2);
      leave_out_from(0);
      break;
    }
    return true;
  }

  /// One block of all that are open.
  Taken measure_block(std::span<const Side> order) {
    std::vector<std::string> names;
    for (const auto* group : open_.groups())
      for (const Candidate& candidate : *group) names.push_back(decision_of(candidate).name);
    const double expected_s = round_s(open_.suspects.size()), began_s = run_.source.elapsed_s();
    const Taken taken = take_rounds(run_, order, names, expected_s, fresh_);
    if (taken != Taken::all) return taken;
    const double took_s = (run_.source.elapsed_s() - began_s) / static_cast<double>(order.size());
    if (expected_s > 0) pace_ *= took_s / expected_s;
    for (std::size_t group = 0; group < open_.groups().size(); ++group)
      for (const Candidate& candidate : *open_.groups()[group])
        std::ranges::find(*all_.groups()[group], candidate.index, &Candidate::index)->rounds +=
            order.size() / 2;
    return taken;
  }

  /// Leaves out those that no further round can confirm.
  void settle(const std::vector<MetricSeries>& again, std::vector<Candidate>& open, bool better,
              std::size_t tests, std::size_t rounds_left) {
    // By Holm's procedure, if all others that may still be confirmed were so before it.
    const std::size_t late = better ? 0 : late_.size() - never_measured_;
    const double factor = static_cast<double>(tests - open.size() - late + 1);
    std::erase_if(open, [&](const Candidate& candidate) {
      const MetricSeries* series = find_series(again, decision_of(candidate).name);
      if (!series || series->base.empty() || series->head.empty() || !series->problem.empty())
        return true;
      const MetricSeries turned = better ? mirrored(*series) : *series;
      return !looks_worse(evidence_of_rounds(turned)) ||
             least_p_with_more(turned, rounds_left) * factor > paired_alpha;
    });
  }

  /// Where `rounds` more of all that are open would take longer than there is time, leaves out the
  /// improvements, then the suspects that looked least worse; not where that would save nothing.
  /// The one that looked worst keeps the time for `later` rounds of its own, if there is as much.
  /// Nothing stays if not even the next block fits.
  void leave_to_time(std::size_t rounds, std::size_t later) {
    const std::vector<Candidate>& open = open_.suspects;
    const double left = run_.left_s();
    const auto takes_s = [&](std::size_t number, std::size_t suspects) {
      return static_cast<double>(number) * round_s(suspects);
    };
    if (takes_s(rounds, open.size()) > left &&
        (!open.empty() || takes_s(rounds_of_block, 0) > left))
      open_.improvements.clear();
    const double worst_s = takes_s(later, 1);
    const double room_s = takes_s(rounds, 1) + worst_s > left ? left : left - worst_s;
    std::size_t fit = std::min(open.size(), run_.options.max_suspects);
    while (fit > 1 && takes_s(rounds, fit) > room_s && round_s(1) < round_s(fit)) --fit;
    if (takes_s(rounds_of_block, fit) > left) fit = 0;
    leave_out_from(fit);
  }

  /// All open suspects but the `first` ones.
  void leave_out_from(std::size_t first) {
    std::vector<Candidate>& open = open_.suspects;
    for (std::size_t i = first; i < open.size(); ++i)
      late_.push_back({open[i].index, first, change_words(decision_of(open[i]))});
    open.resize(std::min(first, open.size()));
  }

  void tell_late() {
    for (const Late& late : late_) {
      MetricDecision& decision = run_.result.metrics[late.index];
      if (decision.outcome == Outcome::regression || decision.outcome == Outcome::missing) continue;
      const std::string before = counted(late.before_it, "suspect");
      const std::string why =
          late.before_it == run_.options.max_suspects
              ? fmt::format("{} looked worse than it, and no more are measured", before)
              : fmt::format("the time limit of {} has no room for {}, raise --time-limit",
                            format_time(run_.options.time_limit_s),
                            late.before_it == 0 ? "any suspect"
                                                : "more than the " + before + " that looked worse");
      decision.decide(
          Outcome::inconclusive,
          fmt::format("it looked worse by {} at first, but was not measured again{}: {}.",
                      late.change, decision.repeated ? " as often as it takes" : "", why));
    }
  }

  /// The sides turned out not to be comparable: nothing is known of what looked worse.
  void tell_refused() {
    for (const Candidate& suspect : all_.suspects) {
      MetricDecision& decision = decision_of(suspect);
      decision.decide(Outcome::inconclusive,
                      fmt::format("it looked worse by {} at first, but the rounds that measured it "
                                  "again cannot be compared.",
                                  change_words(decision)));
    }
  }

  void judge() {
    const std::vector<MetricSeries> again = series_again();
    std::string disturbed = disturbance(again);
    if (discarded_ > 0)
      run_.result.notes.push_back(
          fmt::format("{} disturbed, and measured again",
                      counted(discarded_, "set of fresh rounds was", "sets of fresh rounds were")));
    if (!disturbed.empty()) {
      disturbed += ": the machine was disturbed.";
      run_.result.notes.push_back("of the fresh rounds: " + disturbed);
    }
    const auto judge_group = [&](const std::vector<Candidate>& group, bool suspects) {
      std::vector<FreshRounds> metrics;
      for (const Candidate& candidate : group) {
        if (candidate.rounds == 0) continue;  // there was no time for it
        MetricDecision& decision = decision_of(candidate);
        const MetricSeries* found = find_series(again, decision.name);
        const std::string before = change_words(decision);
        if (!was_measured(candidate, found, suspects)) continue;
        metrics.push_back({*found, &decision});
        decision.reason =
            fmt::format("it looked {} by {} at first.", suspects ? "worse" : "better", before);
      }
      gate::judge(std::move(metrics), suspects, disturbed);
    };
    judge_group(all_.suspects, true);
    judge_group(all_.improvements, false);
    for (const Candidate& control : all_.controls) {
      const MetricSeries* series = find_series(again, decision_of(control).name);
      if (series && !series->problem.empty()) was_measured(control, series, false);
    }
  }

  /// Whether all rounds that were to measure it did; if not, that is what is decided.
  bool was_measured(const Candidate& candidate, const MetricSeries* series, bool suspect) {
    MetricDecision& decision = decision_of(candidate);
    if (series && !series->problem.empty()) {
      decision.decide(Outcome::missing,
                      fmt::format("when it was measured again, {}.", series->problem));
    } else if (!series || (series->base.empty() && series->head.empty())) {
      // Nothing is known to be lost: a command may not select by its filter what it calls so.
      decision.decide(suspect ? Outcome::inconclusive : Outcome::unchanged,
                      "neither side had it when it was measured again.");
    } else {
      return !decide_if_rounds_lack(*series, candidate.rounds, true, decision);
    }
    return false;
  }

  /// Expected seconds of a round of the first `suspects` that are open, and what goes with them.
  double round_s(std::size_t suspects) const {
    double sum = overhead_s_;
    for (const Candidate& suspect : open_.suspects | std::views::take(suspects))
      sum += suspect.elapsed_s;
    for (const auto* group : {&open_.improvements, &open_.controls})
      for (const Candidate& candidate : *group) sum += candidate.elapsed_s;
    return pace_ * sum;
  }

  MetricDecision& decision_of(const Candidate& candidate) const {
    return run_.result.metrics[candidate.index];
  }

  PairedRun& run_;
  const Rounds& before_;
  double overhead_s_;
  double pace_ = 1;  ///< seconds that the last rounds took, for each that was expected
  Candidates open_;  ///< those that are not settled
  Candidates all_;   ///< that fresh rounds measure
  std::vector<Late> late_;
  std::size_t never_measured_ = 0;  ///< of those
  std::size_t discarded_ = 0;       ///< sets of rounds, since the machine was disturbed
  Rounds fresh_;
};

}  // namespace

int confirmation_rounds_for(std::size_t suspects, double spare) {
  const double family = static_cast<double>(std::max<std::size_t>(suspects, 1));
  int rounds = fewest_confirmation_rounds;
  const auto least_p = [&] {
    const auto side = static_cast<std::size_t>(rounds);
    return smallest_rank_p(side, side) * family * spare;
  };
  while (rounds < most_confirmation_rounds && least_p() > paired_alpha) rounds += 2;
  return rounds;
}

int rounds_against_noise(int rounds, double usual_spread) {
  constexpr double to_be_seen = 0.025;
  const double noise = noise_factor * usual_spread / to_be_seen;
  while (rounds < most_confirmation_rounds && rounds < 2 * noise * noise) rounds += 2;
  return rounds;
}

Taken take_rounds(PairedRun& run, std::span<const Side> order, const std::vector<std::string>& only,
                  double expected_s, Rounds& to) {
  double shortest_s = expected_s, longest_s = expected_s;
  for (std::size_t done = 0; done < order.size(); ++done) {
    const double began_s = run.source.elapsed_s(), left_s = run.left_s();
    if (longest_s > left_s || static_cast<double>(order.size() - done) * shortest_s > left_s)
      return Taken::out_of_time;
    const Side side = order[done];
    (side == Side::base ? to.base : to.head).push_back(run.source.round(side, only));
    const auto refusals = refusals_of(to.base, to.head, Allowed::software);
    if (!refusals.empty()) {
      run.result.refusals.insert(run.result.refusals.end(), refusals.begin(), refusals.end());
      return Taken::not_comparable;
    }
    const double took_s = run.source.elapsed_s() - began_s;
    longest_s = std::max(longest_s, took_s);
    shortest_s = shortest_s > 0 ? std::min(shortest_s, took_s) : took_s;
  }
  return Taken::all;
}

void confirm(PairedRun& run, Candidates candidates, const Rounds& before, double overhead_s) {
  Confirmation(run, std::move(candidates), before, overhead_s).decide();
}

}  // namespace fathom::gate
