// What becomes of suspects and improvements in the fresh rounds of a paired check, and how long
// those may take.

#include "gate/check.h"
#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// Leaves a metric out of a round.
void lose(RunMetrics& run, const std::string& name) {
  std::erase_if(run.metrics, [&](const MetricValue& metric) { return metric.name == name; });
}

}  // namespace

TEST_CASE("A metric that is there in some rounds only is not compared", "[gate]") {
  for (const auto& [of, outcome] :
       {std::pair(Side::base, Outcome::inconclusive), {Side::head, Outcome::missing}}) {
    for (const int lost : {2, 7}) {  // among the first rounds, among the fresh ones
      CAPTURE(lost, outcome);
      int seen = 0;
      decides(
          [&](Side side, int round, RunMetrics& run) {
            if (side == Side::head) slow_down(run.metrics[3], 0.5);
            // From there on the side's first round that has it.
            if (side == of && round >= lost && seen++ == 0) lose(run, "probe/3");
          },
          3, outcome, "rounds");
    }
  }
}

TEST_CASE("A metric that became another is compared by nobody", "[gate]") {
  const CheckResult unit =
      decides(of_side(Side::head, [](RunMetrics& run) { run.metrics[2].unit = "cycles"; }), 2,
              Outcome::inconclusive,
              "it is not the same metric throughout: its unit changed from \"s\" to \"cycles\".");
  // Seconds and cycles have no ratio.
  CHECK(change_text(decision(unit, 2)).empty());
  CHECK_THAT(one_line(decision(unit, 2)), !contains('%'));
  decides(of_side(Side::head, [](RunMetrics& run) { run.metrics[2].better = Better::higher; }), 2,
          Outcome::inconclusive, "higher is better");
}

TEST_CASE("Only so many suspects are measured again, improvements after them", "[gate]") {
  // Of 36 slower metrics four are too many.
  const auto slower = [](Side side, int, RunMetrics& run) {
    for (int i = 12; i < 40; ++i) {
      run.metrics.push_back(run.metrics[static_cast<std::size_t>(i - 12)]);
      run.metrics.back().name = "probe/" + std::to_string(i);
      run.metrics.back().elapsed_s = 0;
    }
    for (std::size_t i = 4; i < 40 && side == Side::head; ++i)
      slow_down(run.metrics[i], i < 36 ? 0.1 : 0.05);
  };
  const CheckResult many = check(slower);
  CHECK(count(many, Outcome::regression) == 32);
  CHECK(decision(many, 36).outcome == Outcome::inconclusive);
  CHECK_THAT(decision(many, 36).reason, contains("only the 32 that looked worst are"));
  const auto mixed = [](RunMetrics& run) {
    for (std::size_t i = 0; i < 8; ++i) slow_down(run.metrics[i], i < 3 ? 0.05 : -0.05);
    for (MetricValue& metric : run.metrics) metric.elapsed_s = 0.15;
  };
  // Into 38 s rounds of the suspects alone fit.
  const auto within = [&](double limit_s) {
    return told(check(of_side(Side::head, mixed), {}, {.time_limit_s = limit_s}));
  };
  CHECK(within(180) == "1 after 8: improved 3 4 5 6 7 regression 0 1 2");
  CHECK(within(38) == "1 after 8: regression 0 1 2");
}

TEST_CASE("An improvement that is none, or a lost suspect, is settled", "[gate]") {
  CHECK(told(check(slow_head(3, -0.05, first_rounds))) == "0 after 2:");
  // What neither side has when it is measured again is not lost.
  const auto gone = [](double by) {
    return [=](Side side, int round, RunMetrics& run) {
      if (side == Side::head) slow_down(run.metrics[3], by);
      if (round > first_rounds) lose(run, "probe/3");
    };
  };
  CHECK(told(check(gone(-0.2))) == "0 after 2:");
  CHECK(told(decides(gone(0.2), 3, Outcome::inconclusive, "the base has it in 0 of 2 rounds.")) ==
        "3 after 2: inconclusive 3");
}

TEST_CASE("Wrong output in a fresh round is told, of suspects and of controls", "[gate]") {
  for (const int metric : {3, 0}) {
    CAPTURE(metric);
    const CheckResult result = decides(
        [&](Side side, int round, RunMetrics& run) {
          if (side == Side::base) return;
          slow_down(run.metrics[3], 0.1);
          if (round > first_rounds && round <= first_rounds + 4)
            run.metrics[metric].problem = "its output was wrong";
        },
        metric, Outcome::missing, "its output was wrong");
    // Nothing is to be gained from measuring that suspect further.
    if (metric == 3) CHECK(result.confirmation_rounds == 2);
  }
}

TEST_CASE("Fresh rounds that cannot be compared leave suspects open", "[gate]") {
  const CheckResult result = decides(
      [](Side side, int round, RunMetrics& run) {
        if (side == Side::head) slow_down(run.metrics[3], 0.5);
        if (round == 7) run.identity[1].second = "590";
      },
      3, Outcome::inconclusive, "cannot be compared");
  CHECK(told(result) == "3: inconclusive 3");
  CHECK(result.refusals.size() == 1);
}

TEST_CASE("Late suspects of a disturbed machine are inconclusive as the others", "[gate]") {
  const auto disturbed = [](Side side, int round, RunMetrics& run) {
    if (side == Side::head) slow_first(run, 3, 0.05);
    if (round > first_rounds && round % 3 == 0) slow_first(run, 12, 0.06);
  };
  CHECK(told(check(disturbed, {}, {.time_limit_s = 20})) == "3 after 2: inconclusive 0 1 2");
}

TEST_CASE("A count that was or is zero is judged on its own scale", "[gate]") {
  // None or two errors become five: no logarithm where a round of the base has none.
  for (const double before : {0, 2}) {
    const auto errors = [=](Side side, int round, RunMetrics& run) {
      run.metrics[0].unit = "patterns";
      run.metrics[0].value = side == Side::head ? 5 : round % 4 == 0 ? 0 : before;
    };
    CHECK(told(check(errors)) == "1 after 6: regression 0");
  }
}

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
      CHECK_THAT(decision(result, 0).reason,
                 contains("as often as it takes: the time limit has no room for it"));
    CHECK(decided >= decided_before);
    decided_before = decided;
  }
  CHECK(decided_before == 3);
}

TEST_CASE("What has no time is measured no further, improvements no more than suspects", "[gate]") {
  // Where the rest of the rounds fit for the worst alone, after two blocks of all three; where not
  // even the worst has the time.
  for (const auto& [limit_s, found, runs] : {std::tuple(180.0, "1 after 8: regression 0 1 2", 8u),
                                             {37.1, "1 after 8: regression 2 inconclusive 0 1", 4u},
                                             {36.5, "3 after 4: inconclusive 0 1 2", 4u},
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
  CHECK(
      headline(result) ==
      "INCONCLUSIVE: 1 of the first 4 rounds took 2 s: they do not all fit into the time limit of "
      "7 s, raise --time-limit or measure less");
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
