#include "gate/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "gate/ranks.h"
#include "gate/rounds.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

constexpr int first_rounds = 2;  ///< of all metrics, per side
constexpr std::size_t improvements_shown = 8;

/// What looked worse at first is inconclusive.
void doubt(const Candidate& suspect, const std::string& why) {
  suspect.decision->decide(Outcome::inconclusive,
                           fmt::format("it looked worse by {}{}.", suspect.looked, why));
}

struct PairedCheck {
  RoundSource& source;
  const PairedOptions& options;
  const Rules& rules;
  CheckResult result{.mode = "paired"};
  Rounds first{}, fresh{};
  double usual_spread = 0;    ///< from round to round, of a metric as most are
  double overhead_s = 0;      ///< of a round, beside measuring
  double set_took_s = 0;      ///< the last set of rounds
  std::size_t discarded = 0;  ///< sets of rounds that were disturbed, and taken anew
  double pace = 1;            ///< seconds that the last rounds took, for each that was expected
  std::vector<Candidate> candidates{};  ///< by role, of each the most severe first

  CheckResult run() {
    const std::vector<Side> order = round_order(first_rounds, options.seed);
    try {
      // Twice: fresh ones follow.
      const bool complete = take_until_quiet(
          first, 2, [&] { return take(order, {}, 0, first); },
          [&] { return disturbance_of(first, series_of(first.base, first.head)).empty(); });
      result.rounds = first.base.size();
      if (complete)
        decide();
      else if (result.refusals.empty())
        result.refusals.push_back(fmt::format(
            "{} of the first {} rounds took {}, so that they do not all fit into the time limit of "
            "{}: raise --time-limit, or measure less",
            first.base.size() + first.head.size(), order.size(), format_time(source.elapsed_s()),
            format_time(options.time_limit_s)));
    } catch (const RoundFailed& failed) {
      if (!head_never_works()) throw;
      miss_all(failed);
    }
    if (discarded > 0)
      result.notes.push_back(
          fmt::format("{} disturbed, and measured again",
                      counted(discarded, "set of rounds was", "sets of rounds were")));
    result.elapsed_s = source.elapsed_s();
    return std::move(result);
  }

  /// Whether one of the first rounds failed by the head's own fault: it fails again although the
  /// base, in a round between, does not. Its rounds are added.
  bool head_never_works() {
    if (!first.head.empty()) return false;
    const auto works = [&](Side side) {
      try {
        first.of(side).push_back(source.round(side, {}));
        return true;
      } catch (const RoundFailed&) {
        return false;
      }
    };
    // As long as the base's round took, the head's may.
    const double began_s = source.elapsed_s();
    if (2 * began_s / (static_cast<double>(first.base.size()) + 1) > left_s()) return false;
    return works(Side::base) && source.elapsed_s() - began_s <= left_s() && !works(Side::head);
  }

  void miss_all(const RoundFailed& failed) {
    result.notes.push_back("the head failed again after a round of --base that did not");
    for (const MetricSeries& series : series_of(first.base, {}, rules)) {
      MetricDecision& decision = result.metrics.emplace_back(first_decision(series));
      if (decision.outcome == Outcome::missing)
        decision.reason = fmt::format("the head's rounds fail: {}", failed.what());
    }
  }

  double left_s() const { return options.time_limit_s - source.elapsed_s(); }

  /// Takes rounds in this order, which are of use only together, and returns whether it has them
  /// all. It stops where the sides cannot be compared; and where the next one would pass the time
  /// limit if it took as long as the longest so far, or all that are left if they took as long as
  /// the shortest. `expected_s` is of a round; 0: none was seen yet.
  bool take(std::span<const Side> order, const std::vector<std::string>& only, double expected_s,
            Rounds& to) {
    double shortest_s = expected_s, longest_s = expected_s;
    for (std::size_t done = 0; done < order.size(); ++done) {
      const double began_s = source.elapsed_s();
      if (longest_s > left_s() || static_cast<double>(order.size() - done) * shortest_s > left_s())
        return false;
      RunMetrics& run = to.of(order[done]).emplace_back(source.round(order[done], only));
      std::erase_if(run.identity, [](const auto& fact) {  // what builds of one machine differ in
        return fact.first == "toolkit" || fact.first == "cuda_runtime" ||
               fact.first == "cuda_driver";
      });
      result.refusals = refusals_of(to.base, to.head);
      if (!result.refusals.empty()) return false;
      const double took_s = source.elapsed_s() - began_s;
      longest_s = std::max(longest_s, took_s);
      shortest_s = shortest_s > 0 ? std::min(shortest_s, took_s) : took_s;
    }
    return true;
  }

  /// Takes a set of rounds, and anew while it is not quiet and there is time for `times` as long.
  /// Returns what `take_set` does.
  bool take_until_quiet(Rounds& rounds, double times, const auto& take_set, const auto& is_quiet) {
    while (true) {
      const double began_s = source.elapsed_s();
      if (!take_set()) return false;
      set_took_s = source.elapsed_s() - began_s;
      if (!options.replace_disturbed || times * set_took_s > left_s() || is_quiet()) return true;
      rounds = {};
      ++discarded;
    }
  }

  void decide() {
    const std::vector<MetricSeries> series = series_of(first.base, first.head, rules);
    usual_spread = usual_spread_of(series);
    screen_all(series);
    // Where the first rounds were disturbed, the fresh ones would look for the wrong suspects.
    if (const std::string why = disturbance_of(first, series); !why.empty()) {
      result.refusals.push_back(why + ": the machine was disturbed, measure again");
      for (const Candidate& one : candidates)
        if (one.role == Role::suspect) doubt(one, ", but the machine was disturbed");
      return;
    }
    overhead_s = set_took_s / (2.0 * first_rounds);
    double measuring_s = 0;
    if (source.can_select())
      for (const MetricSeries& metric : series)
        if (!metric.base.empty()) measuring_s += metric.base.front().elapsed_s;
    overhead_s = std::max(0.0, overhead_s - measuring_s);
    confirm();
    const std::string words = what_would_pass(result);
    if (exit_code(result) == ExitCode::ok && !words.empty()) result.notes.push_back(words);
  }

  void screen_all(const std::vector<MetricSeries>& all) {
    std::array<std::vector<Candidate>, 3> by_role;
    result.metrics.reserve(all.size());
    for (const MetricSeries& series : all) {
      MetricDecision& decision = result.metrics.emplace_back(first_decision(series));
      // One that is there now and then is no metric that could be compared.
      if (decision.outcome != Outcome::unchanged ||
          decide_if_rounds_lack(series, result.rounds, "rounds", decision))
        continue;
      if (const auto found = screen(series, decision))
        by_role[static_cast<std::size_t>(found->role)].push_back(*found);
    }
    for (auto& group : by_role)
      std::ranges::stable_sort(group, std::greater<>(), &Candidate::severity);
    auto& [suspects, improvements, controls] = by_role;
    improvements.resize(std::min(improvements.size(), improvements_shown));
    choose_controls(controls);
    for (const auto& group : by_role)
      candidates.insert(candidates.end(), group.begin(), group.end());
  }

  /// What the first rounds make of a metric that they left unchanged; nothing: no candidate.
  std::optional<Candidate> screen(const MetricSeries& series, MetricDecision& decision) const {
    Evidence& evidence = decision.evidence.emplace(evidence_of_rounds(series));
    const double counts = evidence.least, own_noise = evidence.noise_floor;
    // Where all metrics are noisy, what they have in common is surer than four values of one.
    const double usual_noise = usual_spread * std::sqrt(2.0 / first_rounds);
    const bool noisy = evidence.relative && noise_factor * usual_noise > counts;
    const double noise = noisy ? std::min(own_noise, usual_noise) : own_noise;
    // A slowdown that is to be found is a suspect now, and beyond the noise of the fresh rounds.
    const double later = confirmation_rounds_for(1, usual_spread);
    evidence.threshold =
        std::max({counts, noise, noise_factor * std::sqrt(first_rounds / later) * own_noise});
    Candidate found{.role = Role::control,
                    .decision = &decision,
                    .severity = std::abs(evidence.worse) / std::max(counts, 1e-300),
                    // Where no round can leave anything out, it adds nothing.
                    .elapsed_s = source.can_select() ? series.base.front().elapsed_s : 0,
                    .looked = change_words(decision)};
    if (evidence.looks_worse() && evidence.worse > noise)
      found.role = Role::suspect;
    else if (-evidence.worse > std::max(counts, own_noise))
      found.role = Role::improvement;
    else if (evidence.relative)
      found.severity = std::min(-1.0, -noise_factor * own_noise / counts);
    else
      return std::nullopt;
    return found;
  }

  /// Fresh rounds decide the candidates. What no further round can confirm is dropped after each
  /// block, which spares most of the time where nothing changed; none is ever confirmed early, so
  /// that the test stays what it is.
  void confirm() {
    leave_to_time(rounds_of_block, 0);
    bool comparable = true;
    if (something_is_open()) {
      comparable = measure_until_quiet(rounds_wanted());
      result.confirmation_rounds = fresh.base.size();
      if (comparable) judge_all();
    }
    for (const Candidate& one : candidates) {
      if (!comparable && one.role == Role::suspect)
        doubt(one, " at first, but the rounds that measured it again cannot be compared");
      const Outcome outcome = one.decision->outcome;
      if (!one.no_time.empty() && outcome != Outcome::regression && outcome != Outcome::missing)
        doubt(one, " at first, but was not measured again as often as it takes: " + one.no_time);
    }
  }

  std::size_t open(Role role) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        candidates, [&](const Candidate& one) { return one.role == role && one.open; }));
  }
  bool something_is_open() const { return open(Role::suspect) + open(Role::improvement) > 0; }

  void close_improvements() {
    for (Candidate& one : candidates) one.open = one.open && one.role != Role::improvement;
  }

  /// Expected seconds of so many rounds of the first open `suspects`, and what goes with them.
  double takes_s(std::size_t rounds, std::size_t suspects) const {
    double sum = overhead_s;
    std::size_t seen = 0;
    for (const Candidate& one : candidates)
      if (one.open && (one.role != Role::suspect || seen++ < suspects)) sum += one.elapsed_s;
    return static_cast<double>(rounds) * (pace * sum);
  }

  /// Rounds per side. Improvements, which decide nothing, are measured with suspects only where
  /// that fits into the time; and so many more as noise takes, as far as the time goes.
  int rounds_wanted() {
    const std::size_t suspects = open(Role::suspect);
    const auto rounds_for = [&](double spread) {
      return confirmation_rounds_for(std::max(suspects, open(Role::improvement)), spread);
    };
    const auto fit = [&](int rounds) {
      return takes_s(static_cast<std::size_t>(2 * rounds), suspects) <= left_s();
    };
    if (suspects > 0 && !fit(rounds_for(0))) close_improvements();
    int rounds = rounds_for(0);
    while (rounds < rounds_for(usual_spread) && fit(rounds + 2)) rounds += 2;
    return rounds;
  }

  /// Where `rounds` more of all that are open would take longer than there is time, leaves out the
  /// improvements, then the suspects that looked least worse; not where that would save nothing.
  /// The one that looked worst keeps the time for `later` rounds of its own, if there is as much.
  /// Nothing stays if not even the next block fits.
  void leave_to_time(std::size_t rounds, std::size_t later) {
    const std::size_t suspects = open(Role::suspect);
    const double left = left_s();
    if (takes_s(rounds, suspects) > left && (suspects > 0 || takes_s(rounds_of_block, 0) > left))
      close_improvements();
    const double worst_s = takes_s(later, 1);
    const double room_s = takes_s(rounds, 1) + worst_s > left ? left : left - worst_s;
    std::size_t fit = std::min(suspects, options.max_suspects);
    while (fit > 1 && takes_s(rounds, fit) > room_s && takes_s(1, 1) < takes_s(1, fit)) --fit;
    if (takes_s(rounds_of_block, fit) > left) fit = 0;
    leave_out_from(fit);
  }

  /// All open suspects but the `stay` worst.
  void leave_out_from(std::size_t stay) {
    std::size_t number = 0;
    for (Candidate& one : candidates) {
      if (one.role != Role::suspect || !one.open || number++ < stay) continue;
      one.open = false;
      one.no_time = stay == options.max_suspects
                        ? fmt::format("no more than the {} that looked worst are", stay)
                        : fmt::format("the time limit of {} has no room for it, raise --time-limit",
                                      format_time(options.time_limit_s));
    }
  }

  /// What the controls say, and not the suspects, decides whether the fresh rounds count.
  std::string disturbance() const {
    std::vector<MetricSeries> steady;
    for (const Candidate& one : candidates)
      if (one.role == Role::control) steady.push_back(one.fresh);
    return disturbance_of(fresh, steady, &first);
  }

  /// Whether the sides stayed comparable.
  bool measure_until_quiet(int rounds) {
    const std::vector<Candidate> wanted = candidates;
    const auto lack_time = [](const std::vector<Candidate>& all) {
      return std::ranges::count_if(all, [](auto& one) { return !one.no_time.empty(); });
    };
    return take_until_quiet(
        fresh, 1, [&] { return measure(rounds, wanted); },
        [&] { return disturbance().empty() || lack_time(candidates) > lack_time(wanted); });
  }

  bool measure(int rounds, const std::vector<Candidate>& wanted) {
    candidates = wanted;
    const std::vector<Side> order = round_order(rounds, options.seed + 0x9e3779b97f4a7c15u);
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
      for (const Candidate& one : candidates)
        if (one.open) names.push_back(one.decision->name);
      const double expected_s = takes_s(1, open(Role::suspect)), began_s = source.elapsed_s();
      if (!take(std::span(order).subspan(done, rounds_of_block), names, expected_s, fresh)) {
        if (!result.refusals.empty()) return false;
        // Part of a block would favour one side in a drift.
        for (auto* side : {&fresh.base, &fresh.head}) side->resize(done / 2);
        leave_out_from(0);
        done = order.size();
      } else {
        const double took_s = (source.elapsed_s() - began_s) / rounds_of_block;
        if (expected_s > 0) pace *= took_s / expected_s;
        for (Candidate& one : candidates)
          if (one.open) one.rounds += rounds_of_block / 2;
      }
      read_fresh();
    }
    return true;
  }

  void read_fresh() {
    const std::vector<MetricSeries> all = series_of(fresh.base, fresh.head, rules);
    for (Candidate& one : candidates) {
      const auto found = std::ranges::find(all, one.decision->name, &MetricSeries::name);
      one.fresh = found == all.end() ? MetricSeries{} : *found;
      if (one.role == Role::improvement)
        one.fresh.better = one.fresh.better == Better::lower ? Better::higher : Better::lower;
    }
  }

  /// Leaves out those that no further round can confirm: by Holm's procedure, if all others that
  /// may still be confirmed were so before it.
  void settle(Role role, std::size_t rounds_left) {
    double family = 1;
    for (const Candidate& one : candidates)
      family += one.role == role && !one.open && one.no_time.empty();
    for (Candidate& one : candidates)
      if (one.role == role && one.open)
        one.open = !one.fresh.base.empty() && !one.fresh.head.empty() &&
                   one.fresh.problem.empty() && evidence_of_rounds(one.fresh).looks_worse() &&
                   least_p_with_more(one.fresh, rounds_left) * family <= paired_alpha;
  }

  void judge_all() {
    std::string disturbed = disturbance();
    if (!disturbed.empty()) {
      disturbed += ": the machine was disturbed.";
      result.notes.push_back("of the fresh rounds: " + disturbed);
    }
    for (const Role role : {Role::suspect, Role::improvement, Role::control}) {
      std::vector<const Candidate*> measured;
      std::vector<double> p;
      for (const Candidate& one : candidates) {
        if (one.role != role || !was_measured(one)) continue;
        take_values(one.fresh, *one.decision);
        p.push_back(one.decision->evidence.emplace(evidence_of_rounds(one.fresh)).p);
        one.decision->repeated = true;
        measured.push_back(&one);
      }
      const std::vector<double> adjusted = holm_adjusted(p);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        measured[i]->decision->adjusted_p = adjusted[i];
        judge(*measured[i], disturbed);
      }
    }
  }
};

}  // namespace

CheckResult check_paired(RoundSource& source, const PairedOptions& options, const Rules& rules) {
  return PairedCheck{source, options, rules}.run();
}

}  // namespace fathom::gate
