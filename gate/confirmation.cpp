#include "gate/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "gate/evidence.h"
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

Taken take_rounds(RoundSource& source, std::span<const Side> order,
                  const std::vector<std::string>& only, RoundTime time, Rounds& to,
                  CheckResult& result) {
  double shortest_s = time.expected_s, longest_s = time.expected_s;
  for (std::size_t done = 0; done < order.size(); ++done) {
    const double began_s = source.elapsed_s(), left_s = time.limit_s - began_s;
    if (longest_s > left_s || static_cast<double>(order.size() - done) * shortest_s > left_s)
      return Taken::out_of_time;
    const Side side = order[done];
    (side == Side::base ? to.base : to.head).push_back(source.round(side, only));
    const auto refusals = refusals_of(to.base, to.head, Allowed::software);
    if (!refusals.empty()) {
      result.refusals.insert(result.refusals.end(), refusals.begin(), refusals.end());
      return Taken::not_comparable;
    }
    const double took_s = source.elapsed_s() - began_s;
    longest_s = std::max(longest_s, took_s);
    shortest_s = shortest_s > 0 ? std::min(shortest_s, took_s) : took_s;
  }
  return Taken::all;
}

void Confirmation::decide(Candidates candidates) {
  open_ = std::move(candidates);
  leave_to_time(rounds_of_block, 0);
  never_measured_ = late_.size();
  if (!open_.suspects.empty() || !open_.improvements.empty()) {
    const int rounds = all_rounds();
    all_ = open_;
    const bool comparable = measure_until_quiet(rounds);
    result_.confirmation_rounds = fresh_.base.size();
    if (comparable)
      judge();
    else
      tell_refused();
  }
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
      result_.notes.push_back(
          fmt::format("{} fresh rounds a side cannot be sure of {}: as many as {} were taken.",
                      options_.confirmation_rounds, counted(tests, "suspect", "suspects"), least));
    return std::max(options_.confirmation_rounds, least);
  };
  const std::size_t suspects = open_.suspects.size();
  if (suspects > 0 && !open_.improvements.empty()) {
    const int rounds =
        confirmation_rounds_for(std::max(suspects, open_.improvements.size()), options_.gate.alpha);
    if (2 * rounds * round_s(suspects) > options_.time_limit_s - source_.elapsed_s())
      open_.improvements.clear();
  }
  return rounds_for_noise(rounds_for(std::max(suspects, open_.improvements.size())));
}

/// More where the rounds differ by so much that three times the noise of so few would hide 2.5 %,
/// as far as time and patience go.
int Confirmation::rounds_for_noise(int rounds) const {
  constexpr double to_be_seen = 0.025;
  const double noise = options_.gate.noise_factor *
                       usual_spread(series_of(before_.base, before_.head)) / to_be_seen;
  const double left_s = options_.time_limit_s - source_.elapsed_s();
  while (rounds < most_confirmation_rounds && rounds < 2 * noise * noise &&
         2 * (rounds + 2) * round_s(open_.suspects.size()) <= left_s)
    rounds += 2;
  return rounds;
}

std::string Confirmation::disturbed() const {
  return disturbance_of_fresh(fresh_, before_,
                              found(series_of(fresh_.base, fresh_.head), all_.controls));
}

/// What the controls say, and not the suspects, decides whether rounds count.
bool Confirmation::measure_until_quiet(int rounds) {
  const Candidates wanted = all_;
  while (true) {
    const double began_s = source_.elapsed_s();
    if (!measure(rounds)) return false;
    const double took_s = source_.elapsed_s() - began_s;
    if (!options_.replace_disturbed || disturbed().empty() || late_.size() > never_measured_ ||
        source_.elapsed_s() + took_s > options_.time_limit_s)
      return true;
    all_ = open_ = wanted;
    fresh_ = {};
    ++discarded_;
  }
}

/// Whether the sides stayed comparable.
bool Confirmation::measure(int rounds) {
  const std::vector<Side> order = round_order(rounds, options_.seed + 0x9e3779b97f4a7c15u);
  for (std::size_t done = 0; done < order.size(); done += rounds_of_block) {
    if (done > 0) {
      const std::size_t left = order.size() - done;
      const std::vector<MetricSeries> again = series_of(fresh_.base, fresh_.head);
      // Of a machine that looks disturbed nothing is settled: more rounds may think better of it.
      if (disturbance_of_fresh(fresh_, before_, found(again, all_.controls)).empty()) {
        settle(again, open_.suspects, false, all_.suspects.size(), left / 2);
        settle(again, open_.improvements, true, all_.improvements.size(), left / 2);
      }
      // Two blocks settle most of those that are nothing: until then only the next one has to fit.
      const bool early = done < 2 * rounds_of_block;
      leave_to_time(early ? rounds_of_block : left, early ? left - rounds_of_block : 0);
    }
    if (open_.suspects.empty() && open_.improvements.empty()) break;
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
Taken Confirmation::measure_block(std::span<const Side> order) {
  std::vector<std::string> names;
  for (const auto* group : {&open_.suspects, &open_.improvements, &open_.controls})
    for (const Candidate& candidate : *group) names.push_back(decision_of(candidate).name);
  const double expected_s = round_s(open_.suspects.size()), began_s = source_.elapsed_s();
  const Taken taken =
      take_rounds(source_, order, names, {options_.time_limit_s, expected_s}, fresh_, result_);
  if (taken != Taken::all) return taken;
  const double took_s = (source_.elapsed_s() - began_s) / static_cast<double>(order.size());
  if (expected_s > 0) pace_ *= took_s / expected_s;
  const auto count_rounds = [&](std::vector<Candidate>& all, const std::vector<Candidate>& open) {
    for (const Candidate& candidate : open)
      std::ranges::find(all, candidate.index, &Candidate::index)->rounds += order.size() / 2;
  };
  count_rounds(all_.suspects, open_.suspects);
  count_rounds(all_.improvements, open_.improvements);
  count_rounds(all_.controls, open_.controls);
  return taken;
}

void Confirmation::settle(const std::vector<MetricSeries>& again, std::vector<Candidate>& open,
                          bool better, std::size_t tests, std::size_t rounds_left) {
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
           least_p_with_more(turned, effect, rounds_left) * factor > options_.gate.alpha;
  });
}

/// Where `rounds` more of all that are open would take longer than there is time, leaves out the
/// improvements, then the suspects that looked least worse; not where that would save nothing. The
/// one that looked worst keeps the time for `later` rounds of its own, if there is as much. Nothing
/// stays if not even the next block fits.
void Confirmation::leave_to_time(std::size_t rounds, std::size_t later) {
  const std::vector<Candidate>& open = open_.suspects;
  const double left_s = options_.time_limit_s - source_.elapsed_s();
  const auto takes_s = [&](std::size_t number, std::size_t suspects) {
    return static_cast<double>(number) * round_s(suspects);
  };
  if (takes_s(rounds, open.size()) > left_s &&
      (!open.empty() || takes_s(rounds_of_block, 0) > left_s))
    open_.improvements.clear();
  const double worst_s = takes_s(later, 1);
  const double room_s = takes_s(rounds, 1) + worst_s > left_s ? left_s : left_s - worst_s;
  std::size_t fit = std::min(open.size(), options_.max_suspects);
  while (fit > 1 && takes_s(rounds, fit) > room_s && round_s(1) < round_s(fit)) --fit;
  if (takes_s(rounds_of_block, fit) > left_s) fit = 0;
  leave_out_from(fit);
}

/// All open suspects but the `first` ones.
void Confirmation::leave_out_from(std::size_t first) {
  std::vector<Candidate>& open = open_.suspects;
  for (std::size_t i = first; i < open.size(); ++i)
    late_.push_back({open[i].index, first, change_words(decision_of(open[i]))});
  open.resize(std::min(first, open.size()));
}

void Confirmation::tell_late() {
  for (const Late& late : late_) {
    MetricDecision& decision = result_.metrics[late.index];
    if (decision.outcome == Outcome::regression || decision.outcome == Outcome::missing) continue;
    decision.outcome = Outcome::inconclusive;
    const std::string before = counted(late.before_it, "suspect", "suspects");
    const std::string why =
        late.before_it == options_.max_suspects
            ? fmt::format("{} looked worse than it, and no more are measured", before)
            : fmt::format("the time limit of {} has no room for {}, raise --time-limit",
                          format_time(options_.time_limit_s),
                          late.before_it == 0 ? "any suspect"
                                              : "more than the " + before + " that looked worse");
    decision.reason =
        fmt::format("it looked worse by {} at first, but was not measured again{}: {}.",
                    late.change, decision.repeated ? " as often as it takes" : "", why);
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
  std::string disturbed = this->disturbed();
  if (discarded_ > 0)
    result_.notes.push_back(fmt::format("{} of fresh rounds was disturbed, and measured anew",
                                        counted(discarded_, "set", "sets")));
  if (!disturbed.empty()) {
    disturbed += ": the machine was disturbed.";
    result_.notes.push_back("of the fresh rounds: " + disturbed);
  }

  std::vector<MetricSeries> worse, better;
  std::vector<MetricDecision*> of_worse, of_better;
  for (const auto* group : {&all_.suspects, &all_.improvements}) {
    const bool suspect = group == &all_.suspects;
    for (const Candidate& candidate : *group) {
      if (candidate.rounds == 0) continue;  // there was no time for it
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
  for (const Candidate& suspect : open_.suspects | std::views::take(suspects))
    sum += suspect.elapsed_s;
  for (const auto* group : {&open_.improvements, &open_.controls})
    for (const Candidate& candidate : *group) sum += candidate.elapsed_s;
  return pace_ * sum;
}

}  // namespace fathom::gate
