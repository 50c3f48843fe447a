#include "gate/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/ranks.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

using Role = Candidate::Role;

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
      if (comparable) judge_all();
      for (const Candidate& one : candidates_)
        if (!comparable && one.role == Role::suspect)
          doubt(one, "but the rounds that measured it again cannot be compared");
    }
    for (const Candidate& one : candidates_) {
      const Outcome outcome = decision_of(one).outcome;
      if (!one.no_time.empty() && outcome != Outcome::regression && outcome != Outcome::missing)
        doubt(one, "but was not measured again as often as it takes: " + one.no_time);
    }
  }

 private:
  MetricDecision& decision_of(const Candidate& candidate) const {
    return run_.result.metrics[candidate.index];
  }

  /// The fresh rounds' values of a candidate; of an improvement turned, so that better is worse.
  std::optional<MetricSeries> series_of(const Candidate& candidate) const {
    const auto found = std::ranges::find(again_, decision_of(candidate).name, &MetricSeries::name);
    if (found == again_.end()) return std::nullopt;
    MetricSeries series = *found;
    if (candidate.role == Role::improvement)
      series.better = series.better == Better::lower ? Better::higher : Better::lower;
    return series;
  }

  std::size_t open(Role role) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        candidates_, [&](const Candidate& one) { return one.role == role && one.open; }));
  }
  bool something_is_open() const { return open(Role::suspect) + open(Role::improvement) > 0; }

  void close_improvements() {
    for (Candidate& one : candidates_)
      if (one.role == Role::improvement) one.open = false;
  }

  /// Expected seconds of so many rounds of the first `suspects` that are open, and what goes with
  /// them.
  double takes_s(std::size_t rounds, std::size_t suspects) const {
    double sum = overhead_s_;
    std::size_t seen = 0;
    for (const Candidate& one : candidates_)
      if (one.open && (one.role != Role::suspect || seen++ < suspects)) sum += one.elapsed_s;
    return static_cast<double>(rounds) * (pace_ * sum);
  }

  /// Rounds per side. Improvements, which decide nothing, are measured with suspects only where
  /// that fits into the time; and so many more as noise takes, as far as the time goes.
  int rounds_wanted() {
    const std::size_t suspects = open(Role::suspect);
    const auto rounds_for = [&](double spread) {
      return confirmation_rounds_for(std::max(suspects, open(Role::improvement)), spread);
    };
    const auto fit = [&](int rounds) {
      return takes_s(static_cast<std::size_t>(2 * rounds), suspects) <= run_.left_s();
    };
    if (suspects > 0 && !fit(rounds_for(0))) close_improvements();
    int rounds = rounds_for(0);
    const int wanted = rounds_for(run_.usual_spread);
    while (rounds < wanted && fit(rounds + 2)) rounds += 2;
    return rounds;
  }

  std::string disturbance() const {
    std::vector<MetricSeries> steady;
    for (const Candidate& one : candidates_)
      if (const auto series = series_of(one); series && one.role == Role::control)
        steady.push_back(*series);
    return disturbance_of(fresh_, steady, &before_);
  }

  /// Whether the sides stayed comparable. What the controls say, and not the suspects, decides
  /// whether rounds count.
  bool measure_until_quiet(int rounds) {
    const std::vector<Candidate> wanted = candidates_;
    const auto lack_time = [](const std::vector<Candidate>& candidates) {
      return std::ranges::count_if(candidates, [](auto& one) { return !one.no_time.empty(); });
    };
    const auto take = [&] {
      candidates_ = wanted;
      return measure(rounds);
    };
    return run_.take_until_quiet(fresh_, 1, take, [&] {
      return disturbance().empty() || lack_time(candidates_) > lack_time(wanted);
    });
  }

  /// Whether the sides stayed comparable.
  bool measure(int rounds) {
    const std::vector<Side> order = round_order(rounds, run_.options.seed + 0x9e3779b97f4a7c15u);
    for (std::size_t done = 0; done < order.size(); done += rounds_of_block) {
      if (done > 0) {
        const std::size_t left = order.size() - done;
        // While the machine looks disturbed nothing is settled: more rounds may show otherwise.
        if (disturbance().empty())
          for (const Role role : {Role::suspect, Role::improvement}) settle(role, left / 2);
        // Two blocks settle most of those that are nothing: until then only the next has to fit.
        const bool early = done < 2 * rounds_of_block;
        leave_to_time(early ? rounds_of_block : left, early ? left - rounds_of_block : 0);
      }
      if (!something_is_open()) break;
      std::vector<std::string> names;
      for (const Candidate& one : candidates_)
        if (one.open) names.push_back(decision_of(one).name);
      const double expected_s = takes_s(1, open(Role::suspect)), began_s = run_.source.elapsed_s();
      if (!run_.take_rounds(std::span(order).subspan(done, rounds_of_block), names, expected_s,
                            fresh_)) {
        if (!run_.result.refusals.empty()) return false;
        // Part of a block would favour one side in a drift.
        for (auto* side : {&fresh_.base, &fresh_.head}) side->resize(done / 2);
        leave_out_from(0);
        done = order.size();
      } else {
        const double took_s = (run_.source.elapsed_s() - began_s) / rounds_of_block;
        if (expected_s > 0) pace_ *= took_s / expected_s;
        for (Candidate& one : candidates_)
          if (one.open) one.rounds += rounds_of_block / 2;
      }
      again_ = gate::series_of(fresh_.base, fresh_.head, run_.rules);
    }
    return true;
  }

  /// Leaves out those that no further round can confirm: by Holm's procedure, if all others that
  /// may still be confirmed were so before it.
  void settle(Role role, std::size_t rounds_left) {
    double family = 1;
    for (const Candidate& one : candidates_)
      family += one.role == role && !one.open && one.no_time.empty();
    for (Candidate& one : candidates_) {
      if (one.role != role || !one.open) continue;
      const auto series = series_of(one);
      one.open = series && !series->base.empty() && !series->head.empty() &&
                 series->problem.empty() && evidence_of_rounds(*series).looks_worse() &&
                 least_p_with_more(*series, rounds_left) * family <= paired_alpha;
    }
  }

  /// Where `rounds` more of all that are open would take longer than there is time, leaves out the
  /// improvements, then the suspects that looked least worse; not where that would save nothing.
  /// The one that looked worst keeps the time for `later` rounds of its own, if there is as much.
  /// Nothing stays if not even the next block fits.
  void leave_to_time(std::size_t rounds, std::size_t later) {
    const std::size_t suspects = open(Role::suspect);
    const double left = run_.left_s();
    if (takes_s(rounds, suspects) > left && (suspects > 0 || takes_s(rounds_of_block, 0) > left))
      close_improvements();
    const double worst_s = takes_s(later, 1);
    const double room_s = takes_s(rounds, 1) + worst_s > left ? left : left - worst_s;
    std::size_t fit = std::min(suspects, run_.options.max_suspects);
    while (fit > 1 && takes_s(rounds, fit) > room_s && takes_s(1, 1) < takes_s(1, fit)) --fit;
    if (takes_s(rounds_of_block, fit) > left) fit = 0;
    leave_out_from(fit);
  }

  /// All open suspects but the `first` ones.
  void leave_out_from(std::size_t first) {
    std::size_t number = 0;
    for (Candidate& one : candidates_) {
      if (one.role != Role::suspect || !one.open || number++ < first) continue;
      one.open = false;
      one.no_time = first == run_.options.max_suspects
                        ? fmt::format("no more than the {} that looked worst are", first)
                        : fmt::format("the time limit of {} has no room for it, raise --time-limit",
                                      format_time(run_.options.time_limit_s));
    }
  }

  /// What looked worse at first is inconclusive.
  void doubt(const Candidate& suspect, const std::string& why) {
    decision_of(suspect).decide(
        Outcome::inconclusive,
        fmt::format("it looked worse by {} at first, {}.", suspect.looked, why));
  }

  void judge_all() {
    std::string disturbed = disturbance();
    if (!disturbed.empty()) {
      disturbed += ": the machine was disturbed.";
      run_.result.notes.push_back("of the fresh rounds: " + disturbed);
    }
    for (const Role role : {Role::suspect, Role::improvement, Role::control}) {
      std::vector<const Candidate*> measured;
      std::vector<double> p;
      for (const Candidate& one : candidates_) {
        const auto series = series_of(one);
        if (one.role != role || !was_measured(one, series)) continue;
        MetricDecision& decision = decision_of(one);
        take_values(*series, decision);
        p.push_back(decision.evidence.emplace(evidence_of_rounds(*series)).p);
        decision.repeated = true;
        measured.push_back(&one);
      }
      const std::vector<double> adjusted = holm_adjusted(p);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        decision_of(*measured[i]).adjusted_p = adjusted[i];
        judge(*measured[i], *series_of(*measured[i]), disturbed);
      }
    }
  }

  /// Whether all rounds that were to measure it did, and it is to be judged; if they did not, that
  /// is what is decided.
  bool was_measured(const Candidate& candidate, const std::optional<MetricSeries>& series) {
    MetricDecision& decision = decision_of(candidate);
    const bool control = candidate.role == Role::control;
    if (!control && candidate.rounds == 0) return false;  // there was no time for it
    if (series && !series->problem.empty()) {
      decision.decide(Outcome::missing,
                      fmt::format("when it was measured again, {}.", series->problem));
    } else if (control) {
      return false;
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
    const double counts = evidence.threshold;
    const std::string objection =
        evidence.worse >= counts
            ? clock_explanation(series, evidence)
            : fmt::format(
                  "it is too noisy to tell: only changes above {} count, {} times its "
                  "noise.",
                  evidence.relative ? format_percent(std::expm1(counts)) : format_number(counts),
                  format_number(noise_factor));
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
      decision.decide(
          Outcome::regression,
          fmt::format("worse by {} in {} and {} fresh rounds ({}).", change_words(decision),
                      decision.base_runs, decision.head_runs, p_words(*decision.adjusted_p)));
  }

  PairedRun& run_;
  const Rounds& before_;
  double overhead_s_;
  double pace_ = 1;  ///< seconds that the last rounds took, for each that was expected
  std::vector<Candidate> candidates_;
  Rounds fresh_;
  std::vector<MetricSeries> again_;  ///< of the fresh rounds
};

}  // namespace

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
