#include "gate/confirmation.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/rank_statistics.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

using Role = Candidate::Role;

const MetricSeries* find_series(const std::vector<MetricSeries>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &MetricSeries::name);
  return found == all.end() ? nullptr : &*found;
}

/// Why a change that is significant is none of the program's; empty: it is one.
std::string objection_to(const MetricSeries& series, const Evidence& evidence) {
  if (evidence.worse >= evidence.threshold) return clock_explanation(series, evidence).value_or("");
  return fmt::format("it is too noisy to tell: only changes above {} count, {} times its noise.",
                     evidence.relative ? format_percent(std::expm1(evidence.threshold))
                                       : format_number(evidence.threshold),
                     format_number(noise_factor));
}

class Confirmation {
 public:
  Confirmation(PairedRun& run, std::vector<Candidate> candidates, const Rounds& before,
               double overhead_s)
      : run_(run), before_(before), overhead_s_(overhead_s), candidates_(std::move(candidates)) {
    for (Candidate& candidate : candidates_)
      if (candidate.role != Role::control) candidate.looked = change_words(decision_of(candidate));
  }

  void decide() {
    leave_to_time(rounds_of_block, 0);
    if (something_is_open()) {
      const bool comparable = measure_until_quiet(rounds_wanted());
      run_.result.confirmation_rounds = fresh_.base.size();
      if (comparable)
        judge_all();
      else
        each(Role::suspect, [&](Candidate& suspect) {
          doubt(suspect, "but the rounds that measured it again cannot be compared");
        });
    }
    each(Role::suspect, [&](Candidate& suspect) {
      const Outcome outcome = decision_of(suspect).outcome;
      if (!suspect.no_time.empty() && outcome != Outcome::regression && outcome != Outcome::missing)
        doubt(suspect, "but was not measured again as often as it takes: " + suspect.no_time);
    });
  }

 private:
  void each(Role role, auto use) {
    for (Candidate& candidate : candidates_)
      if (candidate.role == role) use(candidate);
  }

  std::size_t open(Role role) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        candidates_, [&](const Candidate& one) { return one.role == role && one.open; }));
  }
  bool something_is_open() const { return open(Role::suspect) + open(Role::improvement) > 0; }

  void close_improvements() {
    each(Role::improvement, [](Candidate& improvement) { improvement.open = false; });
  }

  /// Rounds per side. Improvements, which decide nothing, are measured with suspects only where
  /// that fits into the time; and so many more as noise takes, as far as the time goes.
  int rounds_wanted() {
    const std::size_t suspects = open(Role::suspect);
    const auto rounds_for = [&](double spread) {
      return confirmation_rounds_for(std::max(suspects, open(Role::improvement)), spread);
    };
    const auto fit = [&](int rounds) { return 2 * rounds * round_s(suspects) <= run_.left_s(); };
    if (suspects > 0 && !fit(rounds_for(0))) close_improvements();
    int rounds = rounds_for(0);
    const int wanted = rounds_for(run_.usual_spread);
    while (rounds < wanted && fit(rounds + 2)) rounds += 2;
    return rounds;
  }

  std::string disturbance(const std::vector<MetricSeries>& again) {
    std::vector<MetricSeries> steady;
    each(Role::control, [&](const Candidate& control) {
      if (const MetricSeries* series = find_series(again, decision_of(control).name))
        steady.push_back(*series);
    });
    return disturbance_of(fresh_, steady, &before_);
  }

  std::vector<MetricSeries> series_again() const {
    return series_of(fresh_.base, fresh_.head, run_.rules);
  }

  /// Whether the sides stayed comparable. What the controls say, and not the suspects, decides
  /// whether rounds count.
  bool measure_until_quiet(int rounds) {
    const std::vector<Candidate> wanted = candidates_;
    const auto lacks_time = [](const Candidate& one) { return !one.no_time.empty(); };
    const auto never_measured = std::ranges::count_if(wanted, lacks_time);
    while (true) {
      const double began_s = run_.source.elapsed_s();
      if (!measure(rounds)) return false;
      const double took_s = run_.source.elapsed_s() - began_s;
      if (!run_.options.replace_disturbed || disturbance(series_again()).empty() ||
          std::ranges::count_if(candidates_, lacks_time) > never_measured || took_s > run_.left_s())
        return true;
      candidates_ = wanted;
      fresh_ = {};
      ++run_.discarded;
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
        if (disturbance(again).empty())
          for (const Role role : {Role::suspect, Role::improvement}) settle(again, role, left / 2);
        // Two blocks settle most of those that are nothing: until then only the next has to fit.
        const bool early = done < 2 * rounds_of_block;
        leave_to_time(early ? rounds_of_block : left, early ? left - rounds_of_block : 0);
      }
      if (!something_is_open()) break;
      const RoundsOutcome outcome = measure_block(std::span(order).subspan(done, rounds_of_block));
      if (outcome == RoundsOutcome::not_comparable) return false;
      if (outcome == RoundsOutcome::all) continue;
      // Part of a block would favour one side in a drift.
      for (auto* side : {&fresh_.base, &fresh_.head}) side->resize(done / 2);
      leave_out_from(0);
      break;
    }
    return true;
  }

  /// One block of all that are open.
  RoundsOutcome measure_block(std::span<const Side> order) {
    std::vector<std::string> names;
    for (const Candidate& candidate : candidates_)
      if (candidate.open) names.push_back(decision_of(candidate).name);
    const double expected_s = round_s(open(Role::suspect)), began_s = run_.source.elapsed_s();
    const RoundsOutcome outcome = take_rounds(run_, order, names, expected_s, fresh_);
    if (outcome != RoundsOutcome::all) return outcome;
    const double took_s = (run_.source.elapsed_s() - began_s) / static_cast<double>(order.size());
    if (expected_s > 0) pace_ *= took_s / expected_s;
    for (Candidate& candidate : candidates_)
      if (candidate.open) candidate.rounds += order.size() / 2;
    return outcome;
  }

  /// Leaves out those that no further round can confirm: by Holm's procedure, if all others that
  /// may still be confirmed were so before it.
  void settle(const std::vector<MetricSeries>& again, Role role, std::size_t rounds_left) {
    std::size_t factor = 1;
    each(role, [&](const Candidate& one) { factor += !one.open && one.no_time.empty(); });
    each(role, [&](Candidate& candidate) {
      if (!candidate.open) return;
      candidate.open = false;
      const MetricSeries* series = find_series(again, decision_of(candidate).name);
      if (!series || series->base.empty() || series->head.empty() || !series->problem.empty())
        return;
      const MetricSeries turned = role == Role::suspect ? *series : mirrored(*series);
      candidate.open =
          evidence_of_rounds(turned).looks_worse() &&
          least_p_with_more(turned, rounds_left) * static_cast<double>(factor) <= paired_alpha;
    });
  }

  /// Where `rounds` more of all that are open would take longer than there is time, leaves out the
  /// improvements, then the suspects that looked least worse; not where that would save nothing.
  /// The one that looked worst keeps the time for `later` rounds of its own, if there is as much.
  /// Nothing stays if not even the next block fits.
  void leave_to_time(std::size_t rounds, std::size_t later) {
    const std::size_t suspects = open(Role::suspect);
    const double left = run_.left_s();
    const auto takes_s = [&](std::size_t number, std::size_t some) {
      return static_cast<double>(number) * round_s(some);
    };
    if (takes_s(rounds, suspects) > left && (suspects > 0 || takes_s(rounds_of_block, 0) > left))
      close_improvements();
    const double worst_s = takes_s(later, 1);
    const double room_s = takes_s(rounds, 1) + worst_s > left ? left : left - worst_s;
    std::size_t fit = std::min(suspects, run_.options.max_suspects);
    while (fit > 1 && takes_s(rounds, fit) > room_s && round_s(1) < round_s(fit)) --fit;
    if (takes_s(rounds_of_block, fit) > left) fit = 0;
    leave_out_from(fit);
  }

  /// All open suspects but the `first` ones.
  void leave_out_from(std::size_t first) {
    const std::string why =
        first == run_.options.max_suspects
            ? fmt::format("no more than the {} that looked worst are", first)
            : fmt::format("the time limit of {} has no room for it, raise --time-limit",
                          format_time(run_.options.time_limit_s));
    std::size_t number = 0;
    each(Role::suspect, [&](Candidate& suspect) {
      if (!suspect.open || number++ < first) return;
      suspect.open = false;
      suspect.no_time = why;
    });
  }

  /// What looked worse at first is inconclusive.
  void doubt(const Candidate& suspect, const std::string& why) {
    decision_of(suspect).decide(
        Outcome::inconclusive,
        fmt::format("it looked worse by {} at first, {}.", suspect.looked, why));
  }

  void judge_all() {
    const std::vector<MetricSeries> again = series_again();
    std::string disturbed = disturbance(again);
    if (!disturbed.empty()) {
      disturbed += ": the machine was disturbed.";
      run_.result.notes.push_back("of the fresh rounds: " + disturbed);
    }
    for (const Role role : {Role::suspect, Role::improvement}) {
      std::vector<const Candidate*> measured;
      std::vector<double> p;
      each(role, [&](const Candidate& candidate) {
        MetricDecision& decision = decision_of(candidate);
        const MetricSeries* series = find_series(again, decision.name);
        // Without a round there was no time for it.
        if (candidate.rounds == 0 || !was_measured(candidate, series)) return;
        take_values(*series, decision);
        decision.evidence = evidence_of_rounds(role == Role::suspect ? *series : mirrored(*series));
        decision.repeated = true;
        measured.push_back(&candidate);
        p.push_back(decision.evidence->p);
      });
      const std::vector<double> adjusted = holm_adjusted(p);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        MetricDecision& decision = decision_of(*measured[i]);
        decision.adjusted_p = adjusted[i];
        judge(*measured[i], *find_series(again, decision.name), disturbed);
      }
    }
    each(Role::control, [&](const Candidate& control) {
      const MetricSeries* series = find_series(again, decision_of(control).name);
      if (series && !series->problem.empty()) was_measured(control, series);
    });
  }

  /// Whether all rounds that were to measure it did; if not, that is what is decided.
  bool was_measured(const Candidate& candidate, const MetricSeries* series) {
    MetricDecision& decision = decision_of(candidate);
    if (series && !series->problem.empty()) {
      decision.decide(Outcome::missing,
                      fmt::format("when it was measured again, {}.", series->problem));
    } else if (!series || (series->base.empty() && series->head.empty())) {
      // Nothing is known to be lost: a command may not select by its filter what it calls so.
      decision.decide(candidate.role == Role::suspect ? Outcome::inconclusive : Outcome::unchanged,
                      "neither side had it when it was measured again.");
    } else {
      return !decide_if_rounds_lack(*series, candidate.rounds, "fresh rounds", decision);
    }
    return false;
  }

  /// Decides on fresh rounds: a suspect is a regression, inconclusive (too noisy, the clock moved,
  /// the machine was disturbed) or unchanged; what is none may have become better.
  void judge(const Candidate& candidate, const MetricSeries& series, const std::string& disturbed) {
    MetricDecision& decision = decision_of(candidate);
    Evidence& evidence = *decision.evidence;
    const bool suspect = candidate.role == Role::suspect;
    const std::string objection = objection_to(suspect ? series : mirrored(series), evidence);
    const bool sure = *decision.adjusted_p <= paired_alpha && evidence.is_worse();
    if (!suspect) {  // back to the direction in which everything else is told
      evidence.worse = -evidence.worse;
      evidence.interval = {-evidence.interval.high, -evidence.interval.low,
                           evidence.interval.confidence, evidence.interval.method};
    }
    const std::string before =
        fmt::format("it looked {} by {} at first.", suspect ? "worse" : "better", candidate.looked);
    if (suspect && !disturbed.empty())
      // Nor is it known that it is unchanged: the base's rounds may be the slow ones.
      decision.decide(Outcome::inconclusive, before + " Of the fresh rounds: " + disturbed);
    else if (!sure || (!suspect && !(disturbed.empty() && objection.empty())))
      decision.decide(Outcome::unchanged, before + " Fresh rounds do not confirm it.");
    else if (!suspect)
      decision.decide(Outcome::improved, fmt::format("better by {}.", change_words(decision)));
    else if (!objection.empty())
      decision.decide(Outcome::inconclusive, objection);
    else
      decision.decide(Outcome::regression,
                      fmt::format("worse by {} in {} and {} fresh rounds ({}).{}",
                                  change_words(decision), decision.base_runs, decision.head_runs,
                                  p_words(*decision.adjusted_p), clock_remark(series)));
  }

  /// Expected seconds of a round of the first `suspects` that are open, and what goes with them.
  double round_s(std::size_t suspects) const {
    double sum = overhead_s_;
    std::size_t seen = 0;
    for (const Candidate& candidate : candidates_)
      if (candidate.open && (candidate.role != Role::suspect || seen++ < suspects))
        sum += candidate.elapsed_s;
    return pace_ * sum;
  }

  MetricDecision& decision_of(const Candidate& candidate) const {
    return run_.result.metrics[candidate.index];
  }

  PairedRun& run_;
  const Rounds& before_;
  double overhead_s_;
  double pace_ = 1;  ///< seconds that the last rounds took, for each that was expected
  std::vector<Candidate> candidates_;
  Rounds fresh_;
};

}  // namespace

int confirmation_rounds_for(std::size_t suspects, double spread) {
  constexpr int fewest = 6, most = 20;
  constexpr double to_spare = 4, to_be_seen = 0.025;
  const double family = static_cast<double>(std::max<std::size_t>(suspects, 1));
  const double noise = noise_factor * spread / to_be_seen;
  const auto enough = [&](int rounds) {
    const auto side = static_cast<std::size_t>(rounds);
    return smallest_rank_p(side, side) * family * to_spare <= paired_alpha &&
           rounds >= 2 * noise * noise;
  };
  int rounds = fewest;
  while (rounds < most && !enough(rounds)) rounds += 2;
  return rounds;
}

RoundsOutcome take_rounds(PairedRun& run, std::span<const Side> order,
                          const std::vector<std::string>& only, double expected_s, Rounds& to) {
  double shortest_s = expected_s, longest_s = expected_s;
  for (std::size_t done = 0; done < order.size(); ++done) {
    const double began_s = run.source.elapsed_s(), left_s = run.left_s();
    if (longest_s > left_s || static_cast<double>(order.size() - done) * shortest_s > left_s)
      return RoundsOutcome::out_of_time;
    to.of(order[done]).push_back(run.source.round(order[done], only));
    const auto refusals = refusals_of(to.base, to.head, Allowed::software);
    if (!refusals.empty()) {
      run.result.refusals.insert(run.result.refusals.end(), refusals.begin(), refusals.end());
      return RoundsOutcome::not_comparable;
    }
    const double took_s = run.source.elapsed_s() - began_s;
    longest_s = std::max(longest_s, took_s);
    shortest_s = shortest_s > 0 ? std::min(shortest_s, took_s) : took_s;
  }
  return RoundsOutcome::all;
}

bool decide_if_rounds_lack(const MetricSeries& series, std::size_t rounds, const char* kind,
                           MetricDecision& decision) {
  const std::size_t base = series.base.size(), head = series.head.size();
  if (base >= rounds && head >= rounds) return false;
  const bool lost = head < rounds;
  decision.decide(lost ? Outcome::missing : Outcome::inconclusive,
                  fmt::format("the {} has it in {} of {} {}.", lost ? "head" : "base",
                              lost ? head : base, rounds, kind));
  return true;
}

void confirm(PairedRun& run, std::vector<Candidate> candidates, const Rounds& before,
             double overhead_s) {
  Confirmation(run, std::move(candidates), before, overhead_s).decide();
}

}  // namespace fathom::gate
