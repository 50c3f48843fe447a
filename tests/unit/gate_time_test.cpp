// How long a paired check may take, and what becomes of what it has no time for.

#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// Three slower metrics of the head, the third the most.
void slow_three(Side side, int, RunMetrics& run) {
  if (side == Side::base) return;
  for (const int i : {0, 1, 2}) slow_down(run.metrics[i], 0.03 + 0.01 * i);
}

PairedOptions limited(double time_limit_s) { return {.time_limit_s = time_limit_s}; }

CheckResult check_in(double time_limit_s, PlantedRounds::Change change = slow_three) {
  return check(std::move(change), {}, limited(time_limit_s));
}

/// Rounds that take longer from one on than what they measure says.
PlantedRounds::Change slowing(int from, double by_s) {
  return [=](Side side, int round, RunMetrics& run) {
    slow_three(side, round, run);
    run.elapsed_s = round >= from ? by_s : 0;
  };
}

}  // namespace

// 8 s at first; a fresh round takes 1.6 s, and 0.1 s for each suspect: 8 a side for three.
TEST_CASE("A check takes no longer than its time limit, and decides the worst first", "[gate]") {
  std::size_t decided_before = 0;
  for (double limit_s = 8.4; limit_s < 45; limit_s += 0.7) {
    CAPTURE(limit_s);
    PlantedRounds rounds(slow_three);
    const CheckResult result = check_paired(rounds, limited(limit_s), {});
    CHECK(rounds.elapsed_s() <= limit_s + 1e-9);
    const std::size_t decided = count(result, Outcome::regression);
    CHECK(exit_code(result) == (decided > 0 ? ExitCode::check_failed : ExitCode::inconclusive));
    CHECK(decided + count(result, Outcome::inconclusive) == 3);
    for (int i = 2; i > 2 - static_cast<int>(decided); --i)
      CHECK(decision(result, i).outcome == Outcome::regression);
    if (decided < 3)
      CHECK_THAT(
          decision(result, 0).reason,
          contains(fmt::format("as often as it takes: the time limit of {:g} s has no room for it, "
                               "raise --time-limit",
                               limit_s)));
    CHECK(decided >= decided_before);
    decided_before = decided;
  }
  CHECK(decided_before == 3);
}

TEST_CASE("What has no time is measured no further, improvements no more than suspects", "[gate]") {
  // Where the rest of the rounds fit for the worst alone, after two blocks of all three or, in less
  // time, after one; where not even the worst has the time.
  for (const auto& [limit_s, found, runs] : {std::tuple(180.0, "1 after 8: regression 0 1 2", 8u),
                                             {37.1, "1 after 8: regression 2 inconclusive 0 1", 4u},
                                             {36.5, "1 after 8: regression 2 inconclusive 0 1", 2u},
                                             {29.0, "3 after 4: inconclusive 0 1 2", 4u},
                                             {9.0, "3: inconclusive 0 1 2", 2u}}) {
    const CheckResult result = check_in(limit_s);
    CHECK(told(result) == found);
    CHECK(decision(result, 0).head_runs == runs);
    CHECK(decision(result, 2).repeated == (limit_s > 9));
  }
  const auto change = slow_head(3, -0.05);
  CHECK(told(check_in(180, change)) == "0 after 6: improved 3");
  CHECK(told(check_in(9, change)) == "0:");
}

TEST_CASE("Rounds that get slower pass the time limit by one round's surprise at most", "[gate]") {
  for (int from = 2; from < 24; ++from) {
    for (const double by_s : {0.5, 3.0, 30.0}) {
      CAPTURE(from, by_s);
      PlantedRounds rounds(slowing(from, by_s));
      const CheckResult result = check_paired(rounds, limited(40), {});
      CHECK(rounds.elapsed_s() <= 40 + by_s);
      // Whatever was measured before the limit: as much of the base as of the head.
      for (const MetricDecision& metric : result.metrics)
        CHECK(metric.base_runs == metric.head_runs);
    }
  }
}

TEST_CASE("First rounds that do not fit into the time limit end the check", "[gate]") {
  PlantedRounds rounds(slow_three);
  const CheckResult result = check_paired(rounds, limited(7), {});
  CHECK(rounds.asked.size() == 1);  // four such take 8 s
  CHECK(exit_code(result) == ExitCode::inconclusive);
  CHECK(headline(result) ==
        "INCONCLUSIVE: 1 of the first 4 rounds took 2 s, so that they do not all fit into the time "
        "limit of 7 s: raise --time-limit, or measure less");
  // Each was as expected until the last.
  PlantedRounds slower(slowing(3, 1));
  CHECK(exit_code(check_paired(slower, limited(9), {})) == ExitCode::inconclusive);
  CHECK(slower.asked.size() == 3);
}

TEST_CASE("Where rounds measure everything, the time limit leaves out all or none", "[gate]") {
  const auto outcomes = [](double limit_s, Outcome outcome) {
    PlantedRounds rounds(slow_three);
    rounds.selects = false;
    return count(check_paired(rounds, limited(limit_s), {}), outcome);
  };
  // 20 of 2 s; of three suspects 16 are enough.
  CHECK(outcomes(40.1, Outcome::regression) == 3);
  CHECK(outcomes(31.9, Outcome::inconclusive) == 3);
  CHECK(outcomes(9, Outcome::inconclusive) == 3);
}
