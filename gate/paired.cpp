#include "gate/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "gate/ranks.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

constexpr int first_rounds = 2;  ///< of all metrics, per side
constexpr const char* no_time = "the time limit has no room for it, raise --time-limit";
constexpr std::size_t most_suspects = 32, most_improvements = 8, controls_wanted = 8;

enum class Role { suspect, improvement, control };  ///< a control had not changed

/// A metric that fresh rounds measure.
struct Candidate {
  Role role = Role::control;
  MetricDecision* decision = nullptr;
  double severity = 0;     ///< how many times what counts it looked worse or better
  double elapsed_s = 0;    ///< what measuring it adds to a round
  std::string looked{};    ///< how much worse or better the first rounds found it
  bool open = true;        ///< to be measured further
  std::size_t rounds = 0;  ///< per side, that were to measure it
  std::string left_out{};  ///< why a suspect was not measured as often as it takes
  MetricSeries fresh{};    ///< the fresh rounds' values; of an improvement better is worse in it

  void leave_out(const std::string& why) {
    open = false;
    if (role == Role::suspect) left_out = why;
  }

  /// What looked worse at first is inconclusive.
  void doubt(const std::string& why) const {
    decision->decide(Outcome::inconclusive, fmt::format("it looked worse by {}{}.", looked, why));
  }
};

/// Whether all `rounds` of both sides have it; if they do not, that is what is decided.
bool is_in_all(const MetricSeries& series, std::size_t rounds, MetricDecision& decision) {
  const bool base_lacks = series.base.size() < rounds;
  const std::size_t having = base_lacks ? series.base.size() : series.head.size();
  if (having >= rounds) return true;
  // What the base lacks as well is not lost: a command's filter may not find what it calls so.
  decision.decide(base_lacks ? Outcome::inconclusive : Outcome::missing,
                  fmt::format("the {} has it in {} of {} rounds.", base_lacks ? "base" : "head",
                              having, rounds));
  return false;
}

/// Whether all rounds that were to measure it did, and it is to be judged; if they did not, that is
/// what is decided.
bool was_measured(const Candidate& one) {
  MetricDecision& decision = *one.decision;
  if (one.rounds == 0) return false;  // there was no time for it
  if (!one.fresh.problem.empty())
    decision.decide(Outcome::missing,
                    fmt::format("when it was measured again, {}.", one.fresh.problem));
  else if (one.role != Role::control && is_in_all(one.fresh, one.rounds, decision))
    return true;
  if (one.role == Role::improvement && decision.outcome == Outcome::inconclusive)
    decision.outcome = Outcome::unchanged;
  return false;
}

/// Decides it on the evidence of fresh rounds: a suspect is a regression, inconclusive (too noisy,
/// the clock moved, the machine was `disturbed`) or unchanged; what is none may have become better.
void judge(const Candidate& one, const std::string& disturbed) {
  MetricDecision& decision = *one.decision;
  Evidence& evidence = *decision.evidence;
  const bool suspect = one.role == Role::suspect;
  const std::string objection =
      evidence.worse_by >= evidence.threshold
          ? clock_explanation(one.fresh, evidence)
          : fmt::format("it is too noisy to tell: only changes above {} count.",
                        evidence.relative ? format_percent(std::expm1(evidence.threshold))
                                          : format_number(evidence.threshold));
  bool sure = evidence.p <= paired_alpha && evidence.is_worse();
  if (!suspect) {  // back to the direction in which everything else is told
    evidence.worse_by = -evidence.worse_by;
    evidence.interval = {-evidence.interval.high, -evidence.interval.low,
                         evidence.interval.confidence, evidence.interval.method};
    sure = sure && disturbed.empty() && objection.empty();
  }
  if (suspect && !disturbed.empty())
    // Nor is it known that it is unchanged: the base's rounds may be the slow ones.
    one.doubt(" at first, but then the machine was disturbed: " + disturbed);
  else if (!sure)
    decision.decide(Outcome::unchanged,
                    fmt::format("it looked {} by {} at first. Fresh rounds do not confirm it.",
                                suspect ? "worse" : "better", one.looked));
  else if (!suspect)
    decision.decide(Outcome::improved, fmt::format("better by {}.", change_words(decision)));
  else if (!objection.empty())
    decision.decide(Outcome::inconclusive, objection);
  else
    decision.decide(
        Outcome::regression,
        fmt::format("worse by {} in {} and {} fresh rounds (p = {:.2g}).", change_words(decision),
                    decision.base_runs, decision.head_runs, evidence.p));
}

struct PairedCheck {
  RoundSource& source;
  const PairedOptions& options;
  const Rules& rules;
  CheckResult result{.mode = "paired"};
  Rounds first{}, fresh{};
  double usual_spread = 0;              ///< from round to round, of a metric as most are
  double overhead_s = 0;                ///< of a round, beside measuring candidates
  std::vector<Candidate> candidates{};  ///< by role, of each the most severe first

  CheckResult run() {
    const std::vector<Side> order = round_order(first_rounds, options.seed);
    try {
      std::string disturbed;
      bool complete = true;
      do {
        first = {};
        complete = take(order, first);
        disturbed = disturbance_of(first, series_of(first.base, first.head));
      } while (complete && is_to_replace(first, disturbed));
      result.rounds = first.base.size();
      if (complete)
        decide(disturbed);
      else if (result.refusals.empty())
        result.refusals.push_back(
            fmt::format("{} of the first {} rounds took {}: they do not all fit into the time "
                        "limit of {}, raise "
                        "--time-limit or measure less",
                        first.base.size() + first.head.size(), order.size(),
                        format_time(source.elapsed_s()), format_time(options.time_limit_s)));
    } catch (const Error& failed) {
      if (failed.code() != ExitCode::inconclusive || !head_never_works()) throw;
      for (const MetricSeries& series : series_of(first.base, {}, rules)) {
        MetricDecision& decision = result.metrics.emplace_back(first_decision(series));
        if (decision.outcome == Outcome::missing)
          decision.reason = fmt::format("the head's rounds fail: {}", failed.what());
      }
    }
    result.elapsed_s = source.elapsed_s();
    return std::move(result);
  }

  /// Whether one of the first rounds failed by the head's own fault: it fails again although the
  /// base, in a round between, does not. Its round is added.
  bool head_never_works() {
    if (!first.head.empty()) return false;
    const std::size_t worked = first.base.size();
    overhead_s = source.elapsed_s() / (static_cast<double>(worked) + 1);
    try {
      take(std::array{Side::base, Side::head}, first);
      return false;
    } catch (const Error& again) {
      if (again.code() != ExitCode::inconclusive) throw;
      return first.base.size() > worked;
    }
  }

  /// Expected seconds of what is open in a round.
  double measuring_s() const {
    double sum = 0;
    for (const Candidate& one : candidates)
      if (one.open) sum += one.elapsed_s;
    return sum;
  }

  bool fit(std::size_t rounds) const {
    return static_cast<double>(rounds) * (overhead_s + measuring_s()) <=
           options.time_limit_s - source.elapsed_s();
  }

  /// Takes rounds of what is open, or of all at first; returns whether it has them all. It stops
  /// where the sides cannot be compared, or where the rest have no time, each like the last one.
  bool take(std::span<const Side> order, Rounds& to) {
    std::vector<std::string> only;
    for (const Candidate& one : candidates)
      if (one.open) only.push_back(one.decision->name);
    for (std::size_t left = order.size(); const Side side : order) {
      if (!fit(left--)) return false;
      const double began_s = source.elapsed_s();
      RunMetrics& run = to.of(side).emplace_back(source.round(side, only));
      overhead_s = std::max(0.0, source.elapsed_s() - began_s - measuring_s());
      std::erase_if(run.identity, [](const auto& fact) {  // what builds of one machine differ in
        return fact.first == "toolkit" || fact.first == "cuda_runtime" ||
               fact.first == "cuda_driver";
      });
      result.refusals = refusals_of(to.base, to.head);
      if (!result.refusals.empty()) return false;
    }
    return true;
  }

  /// Whether disturbed rounds are to be taken anew: while there is time for as many.
  bool is_to_replace(const Rounds& rounds, const std::string& why) const {
    return options.replace_disturbed && !why.empty() &&
           fit(rounds.base.size() + rounds.head.size());
  }

  void decide(const std::string& disturbed) {
    const std::vector<MetricSeries> series = series_of(first.base, first.head, rules);
    usual_spread = usual_spread_of(series);
    screen_all(series);
    // Where the first rounds were disturbed, the fresh ones would look for the wrong suspects.
    if (!disturbed.empty()) {
      result.refusals.push_back(disturbed + ": the machine was disturbed, measure again");
      for (const Candidate& one : candidates)
        if (one.role == Role::suspect) one.doubt(", but the machine was disturbed");
      return;
    }
    if (source.can_select())
      for (const MetricSeries& metric : series)
        if (!metric.base.empty()) overhead_s -= metric.base.front().elapsed_s;
    overhead_s = std::max(0.0, overhead_s);
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
      if (decision.outcome != Outcome::unchanged || !is_in_all(series, result.rounds, decision))
        continue;
      Candidate found = screen(series, decision);
      by_role[static_cast<std::size_t>(found.role)].push_back(std::move(found));
    }
    for (auto& group : by_role)
      std::ranges::stable_sort(group, std::greater<>(), &Candidate::severity);
    auto& [suspects, improvements, controls] = by_role;
    for (std::size_t i = most_suspects; i < suspects.size(); ++i)
      suspects[i].leave_out(fmt::format("only the {} that looked worst are", most_suspects));
    improvements.resize(std::min(improvements.size(), most_improvements));
    // A few controls of all kinds, since a load may leave one kind alone: evenly over the run's
    // order, in which like stands beside like. Those too noisy for what counts come last.
    const auto quiet =
        static_cast<std::size_t>(std::ranges::count(controls, -1.0, &Candidate::severity));
    const std::size_t from = std::min(controls.size(), std::max(quiet, controls_wanted));
    const std::size_t chosen = std::min(from, controls_wanted);
    for (std::size_t i = 0; i < chosen; ++i) controls[i] = controls[i * from / chosen];
    controls.resize(chosen);
    for (const auto& group : by_role)
      candidates.insert(candidates.end(), group.begin(), group.end());
  }

  /// What the first rounds make of a metric that both sides have.
  Candidate screen(const MetricSeries& series, MetricDecision& decision) const {
    Evidence& evidence = decision.evidence.emplace(evidence_of_rounds(series));
    const double counts = evidence.least, own_noise = evidence.noise_floor;
    // Where all metrics are noisy, what they have in common is surer than four values of one.
    const bool noisy = evidence.relative && noise_factor * usual_spread > counts;
    const double noise = noisy ? std::min(own_noise, usual_spread) : own_noise;
    // A slowdown that is to be found is a suspect now, and beyond the noise of the fresh rounds.
    const auto later = static_cast<double>(confirmation_rounds_for(1, usual_spread));
    evidence.threshold =
        std::max({counts, noise, noise_factor * std::sqrt(first_rounds / later) * own_noise});
    Candidate found{.role = Role::control,
                    .decision = &decision,
                    .severity = std::abs(evidence.worse_by) / std::max(counts, 1e-300),
                    .elapsed_s = source.can_select() ? series.base.front().elapsed_s : 0,
                    .looked = change_words(decision)};
    if (evidence.looks_worse() && evidence.worse_by > noise)
      found.role = Role::suspect;
    else if (-evidence.worse_by > std::max(counts, own_noise))
      found.role = Role::improvement;
    else
      found.severity = std::min(-1.0, -noise_factor * own_noise / std::max(counts, 1e-300));
    return found;
  }

  /// Fresh rounds decide the candidates. What no further round can confirm is dropped after each
  /// block, which spares time; none is ever confirmed early, so that the test stays what it is.
  void confirm() {
    const std::vector<Candidate> wanted = candidates;
    const auto rounds_for = [&](double spread) {
      return confirmation_rounds_for(std::max(open(Role::suspect), open(Role::improvement)),
                                     spread);
    };
    // Beside suspects improvements, which decide nothing, are measured only where all have time.
    if (open(Role::suspect) > 0) leave_to_time(Role::improvement, 2 * rounds_for(0));
    std::size_t rounds = rounds_for(usual_spread);
    while (rounds > rounds_for(0) && !fit(2 * rounds)) rounds -= 2;
    do {
      candidates = wanted;
      fresh = {};
      measure(rounds);
    } while (result.refusals.empty() && is_to_replace(fresh, disturbance()));
    result.confirmation_rounds = fresh.base.size();
    if (result.refusals.empty()) judge_all();
    for (const Candidate& one : candidates) {
      const Outcome outcome = one.decision->outcome;
      if (!one.left_out.empty() && outcome != Outcome::regression && outcome != Outcome::missing)
        one.doubt(" at first, but was not measured again as often as it takes: " + one.left_out);
    }
  }

  std::size_t open(Role role) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        candidates, [&](const Candidate& one) { return one.role == role && one.open; }));
  }

  /// Leaves out what so many more rounds have no time for, the least severe first.
  void leave_to_time(Role role, std::size_t rounds) {
    for (auto one = candidates.rbegin(); one != candidates.rend() && !fit(rounds); ++one)
      if (one->role == role && one->open) one->leave_out(no_time);
  }

  /// What the controls say, and not the suspects, decides whether the fresh rounds count.
  std::string disturbance() const {
    std::vector<MetricSeries> steady;
    for (const Candidate& one : candidates)
      if (one.role == Role::control) steady.push_back(one.fresh);
    return disturbance_of(fresh, steady, &first);
  }

  void measure(std::size_t rounds) {
    const std::vector<Side> order = round_order(rounds, options.seed + 0x9e3779b97f4a7c15u);
    for (std::size_t done = 0; done < order.size(); done += rounds_of_block) {
      const std::size_t left = order.size() - done;
      // While the machine looks disturbed nothing is settled: more rounds may show otherwise.
      if (done > 0 && disturbance().empty())
        for (const Role role : {Role::suspect, Role::improvement}) settle(role, left / 2);
      // Two blocks settle most of those that are nothing: until then only the next has to fit.
      const std::size_t next = done < 2 * rounds_of_block ? rounds_of_block : left;
      leave_to_time(Role::improvement, open(Role::suspect) > 0 ? left : next);
      leave_to_time(Role::suspect, next);
      if (open(Role::suspect) + open(Role::improvement) == 0) break;
      if (!take(std::span(order).subspan(done, rounds_of_block), fresh)) {
        // Part of a block would favour one side in a drift.
        for (auto* side : {&fresh.base, &fresh.head}) side->resize(done / 2);
        for (Candidate& one : candidates)
          if (one.open)
            one.leave_out(result.refusals.empty() ? no_time : "the rounds cannot be compared");
        break;
      }
      for (Candidate& one : candidates)
        if (one.open) one.rounds += rounds_of_block / 2;
      read_fresh();
    }
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

  /// Leaves out those that no further round can confirm, by Holm's procedure, if all others were.
  void settle(Role role, std::size_t rounds_left) {
    double family = 1;
    for (const Candidate& one : candidates)
      family += one.role == role && !one.open && one.left_out.empty();
    for (Candidate& one : candidates)
      if (one.role == role && one.open)
        one.open = !one.fresh.base.empty() && !one.fresh.head.empty() &&
                   one.fresh.problem.empty() && evidence_of_rounds(one.fresh).looks_worse() &&
                   least_p_with_more(one.fresh, rounds_left) * family <= paired_alpha;
  }

  void judge_all() {
    const std::string disturbed = disturbance();
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
        measured[i]->decision->evidence->p = adjusted[i];
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
