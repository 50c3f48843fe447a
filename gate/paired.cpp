#include "gate/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>

#include "gate/confirmation.h"
#include "gate/ranks.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

using Role = Candidate::Role;

constexpr int first_rounds = 2;  ///< of all metrics, per side
constexpr std::size_t controls_wanted = 8, improvements_shown = 8;

/// Whether a round failed by the head's own fault: it fails again although the base, in a round
/// between, does not. Its rounds are added.
bool head_never_works(PairedRun& run, Rounds& all) {
  if (!all.head.empty()) return false;
  const auto works = [&](Side side) {
    try {
      all.of(side).push_back(run.source.round(side, {}));
      return true;
    } catch (const RoundFailed&) {
      return false;
    }
  };
  // As long as the base's round took, the head's may.
  const double began_s = run.source.elapsed_s();
  if (2 * began_s / (static_cast<double>(all.base.size()) + 1) > run.left_s()) return false;
  return works(Side::base) && run.source.elapsed_s() - began_s <= run.left_s() &&
         !works(Side::head);
}

void miss_all(PairedRun& run, const Rounds& all, const RoundFailed& failed) {
  run.result.notes.push_back("the head failed again after a round of --base that did not");
  for (const MetricSeries& series : series_of(all.base, {}, run.rules)) {
    MetricDecision& decision = run.result.metrics.emplace_back(first_decision(series));
    if (decision.outcome == Outcome::missing)
      decision.reason = fmt::format("the head's rounds fail: {}", failed.what());
  }
}

/// What the first rounds make of a metric that they left unchanged: a suspect, an improvement, a
/// control, or nothing of these.
std::optional<Candidate> screen(const PairedRun& run, const MetricSeries& series,
                                MetricDecision& decision) {
  Evidence& evidence = decision.evidence.emplace(evidence_of_rounds(series));
  const double counts = evidence.least, own_noise = evidence.noise_floor;
  // Where all metrics are noisy, what they have in common is surer than four values of one.
  const double usual_noise = run.usual_spread * std::sqrt(2.0 / first_rounds);
  const bool noisy = evidence.relative && noise_factor * usual_noise > counts;
  const double noise = noisy ? std::min(own_noise, usual_noise) : own_noise;
  // A slowdown that is to be found is a suspect now, and beyond the noise of the fresh rounds.
  const double fresh = confirmation_rounds_for(1, run.usual_spread);
  evidence.threshold =
      std::max({counts, noise, noise_factor * std::sqrt(first_rounds / fresh) * own_noise});
  Candidate found{.index = run.result.metrics.size() - 1,
                  .severity = std::abs(evidence.worse) / std::max(counts, 1e-300),
                  .elapsed_s = series.base.front().elapsed_s};
  if (evidence.looks_worse() && evidence.worse > noise)
    found.role = Role::suspect;
  else if (-evidence.worse > std::max(counts, own_noise))
    found.role = Role::improvement;
  else if (evidence.relative)
    found.severity = -noise_factor * own_noise / counts;
  else
    return std::nullopt;
  return found;
}

void sort_by_severity(auto first, auto last) {
  std::stable_sort(first, last,
                   [](const auto& a, const auto& b) { return a.severity > b.severity; });
}

/// A few of all kinds, since a load may leave one kind alone: evenly over the run's order, in
/// which like stands beside like. The least noisy of those whose noise is above what counts are
/// among them only where the others are too few.
void choose_controls(std::vector<Candidate>& controls) {
  const auto noisy = std::stable_partition(
      controls.begin(), controls.end(), [](const auto& control) { return control.severity >= -1; });
  sort_by_severity(noisy, controls.end());
  const auto quiet = static_cast<std::size_t>(noisy - controls.begin());
  const std::size_t from = std::min(controls.size(), std::max(quiet, controls_wanted));
  const std::size_t chosen = std::min(from, controls_wanted);
  for (std::size_t i = 0; i < chosen; ++i) controls[i] = controls[i * from / chosen];
  controls.resize(chosen);
}

/// Screens all metrics; the candidates come by role, of each the most severe first.
std::vector<Candidate> screen_all(PairedRun& run, const std::vector<MetricSeries>& all) {
  std::array<std::vector<Candidate>, 3> by_role;
  for (const MetricSeries& series : all) {
    MetricDecision& decision = run.result.metrics.emplace_back(first_decision(series));
    // One that is there now and then is no metric that could be compared.
    if (decision.outcome != Outcome::unchanged ||
        decide_if_rounds_lack(series, run.result.rounds, "rounds", decision))
      continue;
    if (const auto found = screen(run, series, decision))
      by_role[static_cast<std::size_t>(found->role)].push_back(*found);
  }
  auto& [suspects, improvements, controls] = by_role;
  for (auto* group : {&suspects, &improvements}) sort_by_severity(group->begin(), group->end());
  if (improvements.size() > improvements_shown) improvements.resize(improvements_shown);
  choose_controls(controls);
  std::vector<Candidate> candidates;
  for (const auto& group : by_role) candidates.insert(candidates.end(), group.begin(), group.end());
  return candidates;
}

/// The median of the metrics' spreads from round to round; 0 where none has any.
double usual_spread(const std::vector<MetricSeries>& series) {
  std::vector<double> spreads;
  for (const MetricSeries& metric : series)
    if (const OrientedSamples values = oriented(metric);
        values.relative && !values.base.empty() && !values.head.empty())
      spreads.push_back(values.spread());
  return median_or_none(spreads).value_or(0);
}

void decide(PairedRun& run, const Rounds& all) {
  const std::vector<MetricSeries> series = series_of(all.base, all.head, run.rules);
  const double round_s = run.took_s / (2.0 * first_rounds);
  run.usual_spread = usual_spread(series);
  std::vector<Candidate> candidates = screen_all(run, series);
  // Where the first rounds were disturbed, the fresh ones would look for the wrong suspects.
  if (const std::string why = disturbance_of(all, series); !why.empty()) {
    run.result.refusals.push_back(why + ": the machine was disturbed, measure again");
    for (const Candidate& candidate : candidates) {
      MetricDecision& decision = run.result.metrics[candidate.index];
      if (candidate.role == Role::suspect)
        decision.decide(Outcome::inconclusive,
                        fmt::format("it looked worse by {}, but the machine was disturbed.",
                                    change_words(decision)));
    }
    return;
  }
  // Where no round can leave anything out, measuring a candidate adds nothing to it.
  double measuring_s = 0;
  if (run.source.can_select())
    for (const MetricSeries& metric : series)
      if (!metric.base.empty()) measuring_s += metric.base.front().elapsed_s;
  if (!run.source.can_select())
    for (Candidate& candidate : candidates) candidate.elapsed_s = 0;
  confirm(run, std::move(candidates), all, std::max(0.0, round_s - measuring_s));
  const std::string words = what_would_pass(run.result);
  if (exit_code(run.result) == ExitCode::ok && !words.empty()) run.result.notes.push_back(words);
}

}  // namespace

std::vector<Side> round_order(int rounds, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<Side> order;
  for (int block = 0; block < 2 * rounds / rounds_of_block; ++block) {
    const bool base_first = (generator() >> 63) == 0;
    const Side outer = base_first ? Side::base : Side::head;
    const Side inner = base_first ? Side::head : Side::base;
    order.insert(order.end(), {outer, inner, inner, outer});
  }
  return order;
}

int confirmation_rounds_for(std::size_t suspects, double spread) {
  constexpr int fewest = 6, most = 20;
  constexpr double to_spare = 4, to_be_seen = 0.025;
  const double family = static_cast<double>(std::max<std::size_t>(suspects, 1));
  const double noise = noise_factor * spread / to_be_seen;
  int rounds = fewest;
  for (; rounds < most; rounds += 2) {
    const auto side = static_cast<std::size_t>(rounds);
    if (smallest_rank_p(side, side) * family * to_spare <= paired_alpha &&
        rounds >= 2 * noise * noise)
      break;
  }
  return rounds;
}

bool PairedRun::take_rounds(std::span<const Side> order, const std::vector<std::string>& only,
                            double expected_s, Rounds& to) {
  double shortest_s = expected_s, longest_s = expected_s;
  for (std::size_t done = 0; done < order.size(); ++done) {
    const double began_s = source.elapsed_s();
    if (longest_s > left_s() || static_cast<double>(order.size() - done) * shortest_s > left_s())
      return false;
    RunMetrics& run = to.of(order[done]).emplace_back(source.round(order[done], only));
    std::erase_if(run.identity, [](const auto& fact) {  // what builds of one machine differ in
      return fact.first == "toolkit" || fact.first == "cuda_runtime" || fact.first == "cuda_driver";
    });
    result.refusals = refusals_of(to.base, to.head);
    if (!result.refusals.empty()) return false;
    const double took_s = source.elapsed_s() - began_s;
    longest_s = std::max(longest_s, took_s);
    shortest_s = shortest_s > 0 ? std::min(shortest_s, took_s) : took_s;
  }
  return true;
}

bool PairedRun::take_until_quiet(Rounds& rounds, double times, const std::function<bool()>& take,
                                 const std::function<bool()>& is_quiet) {
  while (true) {
    const double began_s = source.elapsed_s();
    if (!take()) return false;
    took_s = source.elapsed_s() - began_s;
    if (!options.replace_disturbed || times * took_s > left_s() || is_quiet()) return true;
    rounds = {};
    ++discarded;
  }
}

CheckResult check_paired(RoundSource& source, const PairedOptions& options, const Rules& rules) {
  PairedRun run{source, options, rules};
  run.result.mode = "paired";
  Rounds all;
  const std::vector<Side> order = round_order(first_rounds, options.seed);
  try {
    const auto take = [&] { return run.take_rounds(order, {}, 0, all); };
    // Twice: fresh ones follow.
    const bool complete = run.take_until_quiet(
        all, 2, take, [&] { return disturbance_of(all, series_of(all.base, all.head)).empty(); });
    run.result.rounds = all.base.size();
    if (complete)
      decide(run, all);
    else if (run.result.refusals.empty())
      run.result.refusals.push_back(fmt::format(
          "{} of the first {} rounds took {}, so that they do not all fit into the time limit of "
          "{}: raise --time-limit, or measure less",
          all.base.size() + all.head.size(), order.size(), format_time(source.elapsed_s()),
          format_time(options.time_limit_s)));
  } catch (const RoundFailed& failed) {
    if (!head_never_works(run, all)) throw;
    miss_all(run, all, failed);
  }
  if (run.discarded > 0)
    run.result.notes.push_back(
        fmt::format("{} disturbed, and measured again",
                    counted(run.discarded, "set of rounds was", "sets of rounds were")));
  run.result.elapsed_s = source.elapsed_s();
  return std::move(run.result);
}

}  // namespace fathom::gate
