#include "reports/gate/confirmation.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/gate/evidence.h"
#include "reports/gate/identity.h"
#include "reports/gate/rank_statistics.h"
#include "reports/gate/verdicts.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

constexpr int fewest_confirmation_rounds = 6, most_confirmation_rounds = 20;

const MetricSeries* find_series(const std::vector<MetricSeries>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &MetricSeries::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

int confirmation_rounds_for(std::size_t suspects, double alpha, double spare) {
  const double family = static_cast<double>(std::max<std::size_t>(suspects, 1));
  int rounds = fewest_confirmation_rounds;
  while (rounds < most_confirmation_rounds &&
         smallest_rank_p(static_cast<std::size_t>(rounds), static_cast<std::size_t>(rounds)) *
                 family * spare >
             alpha)
    rounds += 2;
  return rounds;
}

bool take_rounds(RoundSource& source, std::span<const Side> order,
                 const std::vector<std::string>& only, Rounds& to, CheckResult& result) {
  for (const Side side : order) {
    (side == Side::base ? to.base : to.head).push_back(source.round(side, only));
    const auto refusals = refusals_of(to.base, to.head, Allowed::software);
    if (refusals.empty()) continue;
    result.refusals.insert(result.refusals.end(), refusals.begin(), refusals.end());
    return false;
  }
  return true;
}

void Confirmation::decide(Candidates candidates) {
  open_ = std::move(candidates);
  leave_to_time(rounds_of_block);
  never_measured_ = late_.size();
  const int rounds = all_rounds();
  all_ = open_;
  if (all_.suspects.empty() && all_.improvements.empty()) return;
  const bool comparable = measure(rounds);
  result_.confirmation_rounds = fresh_.base.size();
  if (comparable)
    judge();
  else
    tell_refused();
  tell_late();
}

/// Rounds per side. Improvements, which decide nothing, are measured with suspects only where that
/// fits into the time.
int Confirmation::all_rounds() {
  const auto rounds_for = [&](std::size_t tests) {
    const double alpha = options_.gate.alpha;
    if (options_.confirmation_rounds == 0) return confirmation_rounds_for(tests, alpha);
    const int least = confirmation_rounds_for(tests, alpha, 1);
    if (options_.confirmation_rounds < least)
      result_.notes.push_back(fmt::format(
          "{} fresh rounds a side cannot be sure of {} {}: {} were taken.",
          options_.confirmation_rounds, tests, tests == 1 ? "suspect" : "suspects", least));
    return std::max(options_.confirmation_rounds, least);
  };
  const std::size_t suspects = open_.suspects.size();
  if (suspects > 0 && !open_.improvements.empty()) {
    const int rounds =
        confirmation_rounds_for(std::max(suspects, open_.improvements.size()), options_.gate.alpha);
    if (2 * rounds * round_s(suspects) > options_.time_limit_s - source_.elapsed_s())
      open_.improvements.clear();
  }
  return rounds_for(std::max(suspects, open_.improvements.size()));
}

bool Confirmation::measure(int rounds) {
  const std::vector<Side> order = round_order(rounds, options_.seed + 0x9e3779b97f4a7c15u);
  for (std::size_t done = 0; done < order.size(); done += rounds_of_block) {
    if (done > 0) {
      const auto left = static_cast<int>(order.size() - done);
      const std::vector<MetricSeries> again = series_of(fresh_.base, fresh_.head);
      // Of a machine that looks disturbed nothing is settled: more rounds may think better of it.
      if (disturbance_of_fresh(fresh_, before_, found(again, all_.controls)).empty()) {
        settle(again, open_.suspects, false, all_.suspects.size(), left / 2);
        settle(again, open_.improvements, true, all_.improvements.size(), left / 2);
      }
      // Two blocks settle most of those that are nothing: until then only the next one has to fit.
      leave_to_time(done < 2 * rounds_of_block ? rounds_of_block : left);
    }
    std::vector<std::string> names;
    const auto ask_for = [&](std::vector<Candidate>& all, const std::vector<Candidate>& open) {
      for (const Candidate& candidate : open) {
        names.push_back(decision_of(candidate).name);
        std::ranges::find(all, candidate.index, &Candidate::index)->rounds += rounds_of_block / 2;
      }
    };
    ask_for(all_.suspects, open_.suspects);
    ask_for(all_.improvements, open_.improvements);
    if (names.empty()) break;
    ask_for(all_.controls, open_.controls);
    if (!take_rounds(source_, std::span(order).subspan(done, rounds_of_block), names, fresh_,
                     result_))
      return false;
  }
  return true;
}

void Confirmation::settle(const std::vector<MetricSeries>& again, std::vector<Candidate>& open,
                          bool better, std::size_t tests, int rounds_left) {
  // By Holm's procedure, if all others that may still be confirmed were so before it.
  const std::size_t late = better ? 0 : late_.size() - never_measured_;
  const double factor = static_cast<double>(tests - open.size() - late + 1);
  std::erase_if(open, [&](const Candidate& candidate) {
    const MetricSeries* series = find_series(again, decision_of(candidate).name);
    if (!series || series->base.empty() || series->head.empty() || !series->problem.empty())
      return true;
    const double effect = effect_for(find_rule(rules_, series->name), options_.gate);
    const MetricSeries turned = better ? mirrored(*series) : *series;
    return !looks_worse(evidence_of_rounds(turned, options_.gate, effect), turned, effect) ||
           least_p_with_more(turned, effect, static_cast<std::size_t>(rounds_left)) * factor >
               options_.gate.alpha;
  });
}

/// Where `rounds` more of all that are open would take longer than there is time, leaves out the
/// improvements, then the suspects that looked least worse; not where that would save nothing.
void Confirmation::leave_to_time(int rounds) {
  std::vector<Candidate>& open = open_.suspects;
  const double left_s = options_.time_limit_s - source_.elapsed_s();
  if (!open.empty() && rounds * round_s(open.size()) > left_s) open_.improvements.clear();
  std::size_t fit = std::min(open.size(), options_.max_suspects);
  while (fit > 1 && rounds * round_s(fit) > left_s && round_s(1) < round_s(fit)) --fit;
  for (std::size_t i = fit; i < open.size(); ++i)
    late_.push_back({open[i].index, fit, change_words(decision_of(open[i]))});
  open.resize(fit);
}

void Confirmation::tell_late() {
  for (const Late& late : late_) {
    MetricDecision& decision = result_.metrics[late.index];
    if (decision.outcome == Outcome::regression || decision.outcome == Outcome::missing) continue;
    decision.outcome = Outcome::inconclusive;
    decision.reason = fmt::format(
        "it looked worse by {} at first, but was not measured again{}: {} looked worse than it, "
        "and "
        "that is what the time limit of {} and the limit of {} suspects leave room for.",
        late.change, decision.repeated ? " as often as it takes" : "",
        late.before_it == 1 ? "1 suspect" : fmt::format("{} suspects", late.before_it),
        format_time(options_.time_limit_s), options_.max_suspects);
  }
}

/// The sides turned out not to be comparable: nothing is known of what looked worse.
void Confirmation::tell_refused() {
  for (const Candidate& suspect : all_.suspects) {
    MetricDecision& decision = decision_of(suspect);
    decision.outcome = Outcome::inconclusive;
    decision.reason = fmt::format(
        "it looked worse by {} at first, but the rounds that measured it again cannot be compared.",
        change_words(decision));
  }
}

void Confirmation::judge() {
  const std::vector<MetricSeries> again = series_of(fresh_.base, fresh_.head);
  std::string disturbed = disturbance_of_fresh(fresh_, before_, found(again, all_.controls));
  if (!disturbed.empty()) {
    disturbed += ": the machine was disturbed.";
    result_.notes.push_back("of the fresh rounds: " + disturbed);
  }

  std::vector<MetricSeries> worse, better;
  std::vector<MetricDecision*> of_worse, of_better;
  for (const auto* group : {&all_.suspects, &all_.improvements}) {
    const bool suspect = group == &all_.suspects;
    for (const Candidate& candidate : *group) {
      MetricDecision& decision = decision_of(candidate);
      const MetricSeries* series = find_series(again, decision.name);
      const std::string before = change_words(decision);
      if (!was_measured(candidate, series, suspect)) continue;
      (suspect ? worse : better).push_back(*series);
      (suspect ? of_worse : of_better).push_back(&decision);
      decision.reason =
          fmt::format("it looked {} by {} at first.", suspect ? "worse" : "better", before);
    }
  }
  for (const Candidate& control : all_.controls) {
    const MetricSeries* series = find_series(again, decision_of(control).name);
    if (series && !series->problem.empty()) was_measured(control, series, false);
  }
  judge_suspects(worse, of_worse, rules_, options_.gate, disturbed);
  judge_improvements(better, of_better, rules_, options_.gate, disturbed);
}

/// Whether all rounds that were to measure it did; if not, that is what is decided.
bool Confirmation::was_measured(const Candidate& candidate, const MetricSeries* series,
                                bool suspect) {
  MetricDecision& decision = decision_of(candidate);
  const std::size_t base = series ? series->base.size() : 0,
                    head = series ? series->head.size() : 0;
  if (series && !series->problem.empty()) {
    decision.outcome = Outcome::missing;
    decision.reason = fmt::format("when it was measured again, {}.", series->problem);
  } else if (base == 0 && head == 0) {
    // Nothing is known to be lost: a command may not select by its filter what it calls so.
    decision.outcome = suspect ? Outcome::inconclusive : Outcome::unchanged;
    decision.reason = "neither side had it when it was measured again.";
  } else if (head < candidate.rounds) {
    decision.outcome = Outcome::missing;
    decision.reason = fmt::format("the head had it in {} of {} rounds when it was measured again.",
                                  head, candidate.rounds);
  } else if (base < candidate.rounds) {
    decision.outcome = Outcome::inconclusive;
    decision.reason = fmt::format("the base had it in {} of {} rounds when it was measured again.",
                                  base, candidate.rounds);
  } else {
    return true;
  }
  return false;
}

std::vector<MetricSeries> Confirmation::found(const std::vector<MetricSeries>& again,
                                              const std::vector<Candidate>& candidates) const {
  std::vector<MetricSeries> all;
  for (const Candidate& candidate : candidates)
    if (const MetricSeries* series = find_series(again, decision_of(candidate).name))
      all.push_back(*series);
  return all;
}

/// Expected seconds of a round of the first `suspects` that are open, and what goes with them.
double Confirmation::round_s(std::size_t suspects) const {
  double sum = overhead_s_;
  for (std::size_t i = 0; i < suspects; ++i) sum += open_.suspects[i].elapsed_s;
  for (const auto* group : {&open_.improvements, &open_.controls})
    for (const Candidate& candidate : *group) sum += candidate.elapsed_s;
  return sum;
}

}  // namespace fathom::gate
