#include "gate/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "gate/ranks.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

constexpr double limit = 0.01;
constexpr std::size_t enough = 5;
constexpr std::size_t controls_wanted = 8;

/// How far apart two things are that should not be, and how far noise puts them, relative.
struct Sign {
  const char* what;
  double apart = 0, noise = limit;
  double ratio() const { return apart / noise; }
};

/// Four standard deviations are no noise: of some dozens of rounds one may be the farthest.
Sign sign_of(const char* what, double apart, const std::vector<double>& deviations) {
  return {what, apart, std::max(limit, 4 * median(deviations))};
}

/// The largest difference between two rounds of one side. What noise makes of it: a mid-hinge of m
/// values has 1.11 of their spread over root m, and two of them differ by twice that at most.
Sign spread_of_rounds(const std::vector<OrientedSamples>& metrics,
                      std::vector<double> OrientedSamples::*side) {
  std::vector<std::vector<double>> by_round;
  for (const OrientedSamples& metric : metrics) {
    const std::vector<double>& values = metric.*side;
    if (values.size() < 2) continue;
    const double centre = median(values);
    by_round.resize(std::max(by_round.size(), values.size()));
    for (std::size_t round = 0; round < values.size(); ++round)
      by_round[round].push_back(values[round] - centre);
  }
  std::vector<double> shifts, noise;
  for (const auto& deviations : by_round) {
    if (deviations.size() < enough) continue;
    shifts.push_back((quantile(deviations, 0.25) + quantile(deviations, 0.75)) / 2);
    noise.push_back(2 * 1.11 * robust_spread(deviations) /
                    std::sqrt(static_cast<double>(deviations.size())));
  }
  const char* what = "the rounds of one side";
  if (shifts.size() < 2) return {what};
  const auto [low, high] = std::ranges::minmax(shifts);
  return sign_of(what, high - low, noise);
}

/// How far apart the two sides are in at least two metrics, in one direction: over all rounds of a
/// side noise is small, and it is not in two of a few metrics at once.
Sign shift_of_sides(const std::vector<OrientedSamples>& steady) {
  std::vector<double> shifts, noise;
  for (const OrientedSamples& values : steady) {
    if (values.base.empty() || values.head.empty()) continue;
    shifts.push_back(shift_of(values.base, values.head).estimate);
    noise.push_back(values.noise_floor());
  }
  const char* what = "the sides";
  if (shifts.size() < enough) return {what};
  std::ranges::sort(shifts);
  return sign_of(what, std::max({shifts[shifts.size() - 2], -shifts[1], 0.0}), noise);
}

}  // namespace

std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series,
                           const Rounds* before) {
  constexpr int none = std::numeric_limits<int>::max();
  int fewest = none;  // other processes
  for (const Rounds* some : {&rounds, before ? before : &rounds})
    for (const auto* side : {&some->base, &some->head})
      for (const RunMetrics& run : *side)
        fewest = std::min(fewest, run.other_processes.value_or(none));
  std::size_t visited = 0, unsteady = 0;
  double worst = 0;
  for (const auto* side : {&rounds.base, &rounds.head})
    for (const RunMetrics& run : *side) {
      visited += run.other_processes > fewest;
      unsteady += run.unsteadiness.value_or(0) > limit;
      worst = std::max(worst, run.unsteadiness.value_or(0));
    }
  const std::size_t all = rounds.base.size() + rounds.head.size();
  if (visited > 0)
    return fmt::format("another process used the GPU during {} of {} rounds", visited, all);
  if (unsteady > 0)
    return fmt::format(
        "in {} of {} rounds what one process measured several times differed by up to {} in the "
        "median",
        unsteady, all, format_percent(worst));
  std::vector<OrientedSamples> metrics;
  for (const MetricSeries& metric : series)
    if (OrientedSamples values = oriented(metric); values.relative)
      metrics.push_back(std::move(values));
  std::vector<Sign> signs{spread_of_rounds(metrics, &OrientedSamples::base),
                          spread_of_rounds(metrics, &OrientedSamples::head)};
  if (before) signs.push_back(shift_of_sides(metrics));
  const Sign& sign = *std::ranges::max_element(signs, {}, &Sign::ratio);
  if (sign.ratio() <= 1) return {};
  return fmt::format("{} differ by {} over {}", sign.what, format_percent(sign.apart),
                     before ? "the metrics that had not changed" : "all metrics");
}

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

void choose_controls(std::vector<Candidate>& controls) {
  const auto quiet =
      static_cast<std::size_t>(std::ranges::count(controls, -1.0, &Candidate::severity));
  const std::size_t from = std::min(controls.size(), std::max(quiet, controls_wanted));
  const std::size_t chosen = std::min(from, controls_wanted);
  for (std::size_t i = 0; i < chosen; ++i) controls[i] = controls[i * from / chosen];
  controls.resize(chosen);
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

bool was_measured(const Candidate& one) {
  MetricDecision& decision = *one.decision;
  const MetricSeries& series = one.fresh;
  if (one.rounds == 0) return false;  // there was no time for it
  if (!series.problem.empty())
    decision.decide(Outcome::missing,
                    fmt::format("when it was measured again, {}.", series.problem));
  else if (one.role != Role::control && series.base.empty() && series.head.empty())
    // Nothing is known to be lost: a command may not select by its filter what it calls so.
    decision.decide(one.role == Role::suspect ? Outcome::inconclusive : Outcome::unchanged,
                    "neither side had it when it was measured again.");
  else
    return one.role != Role::control &&
           !decide_if_rounds_lack(series, one.rounds, "fresh rounds", decision);
  return false;
}

void judge(const Candidate& one, const std::string& disturbed) {
  MetricDecision& decision = *one.decision;
  Evidence& evidence = *decision.evidence;
  const bool suspect = one.role == Role::suspect;
  const double counts = evidence.threshold;
  const std::string objection =
      evidence.worse >= counts
          ? clock_explanation(one.fresh, evidence)
          : fmt::format(
                "it is too noisy to tell: only changes above {} count, {} times its noise.",
                evidence.relative ? format_percent(std::expm1(counts)) : format_number(counts),
                format_number(noise_factor));
  const bool sure = *decision.adjusted_p <= paired_alpha && evidence.is_worse();
  if (!suspect) {  // back to the direction in which everything else is told
    evidence.worse = -evidence.worse;
    evidence.interval = {-evidence.interval.high, -evidence.interval.low,
                         evidence.interval.confidence, evidence.interval.method};
  }
  const std::string before =
      fmt::format("it looked {} by {} at first.", suspect ? "worse" : "better", one.looked);
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

}  // namespace fathom::gate
