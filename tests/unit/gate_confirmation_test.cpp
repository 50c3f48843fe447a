// What becomes of suspects and improvements in the fresh rounds of a paired check.

#include "gate/outputs.h"
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
              "it is not the same metric throughout: its unit changed from a time to cycles.");
  // Seconds and cycles have no ratio.
  CHECK(change_text(decision(unit, 2)).empty());
  CHECK_THAT(one_line(decision(unit, 2)), !contains('%'));
  decides(of_side(Side::head, [](RunMetrics& run) { run.metrics[2].better = Better::higher; }), 2,
          Outcome::inconclusive, "higher is better");
}

TEST_CASE("Only so many suspects are measured again, improvements after them", "[gate]") {
  const auto slower = [](RunMetrics& run) { slow_first(run, 4, 0.1); };
  const CheckResult result = check(of_side(Side::head, slower), {}, {.max_suspects = 2});
  CHECK(count(result, Outcome::regression) == 2);
  CHECK(count(result, Outcome::inconclusive) == 2);
  const auto mixed = [](RunMetrics& run) {
    for (std::size_t i = 0; i < 8; ++i) slow_down(run.metrics[i], i < 3 ? 0.05 : -0.05);
    for (MetricValue& metric : run.metrics) metric.elapsed_s = 0.15;
  };
  // Into 38 s rounds of the suspects alone fit.
  for (const auto& [limit_s, improved] : {std::pair(180.0, 5u), {38.0, 0u}}) {
    const CheckResult decided = check(of_side(Side::head, mixed), {}, {.time_limit_s = limit_s});
    CHECK(count(decided, Outcome::regression) == 3);
    CHECK(count(decided, Outcome::improved) == improved);
    CHECK(count(decided, Outcome::inconclusive) == 0);
  }
}

TEST_CASE("An improvement that is none, or a lost suspect, is settled", "[gate]") {
  const CheckResult none = decides(slow_head(3, -0.05, first_rounds), 3, Outcome::unchanged);
  CHECK(exit_code(none) == ExitCode::ok);
  CHECK(none.confirmation_rounds == 2);
  // What neither side has when it is measured again is not lost.
  const auto gone = [](double by) {
    return [=](Side side, int round, RunMetrics& run) {
      if (side == Side::head) slow_down(run.metrics[3], by);
      if (round > first_rounds) lose(run, "probe/3");
    };
  };
  CHECK(exit_code(check(gone(-0.2))) == ExitCode::ok);
  CHECK(exit_code(decides(gone(0.2), 3, Outcome::inconclusive, "neither side")) ==
        ExitCode::inconclusive);
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
  CHECK(exit_code(result) == ExitCode::inconclusive);
  CHECK(result.refusals.size() == 1);
  CHECK(result.confirmation_rounds > 0);
}

TEST_CASE("Late suspects of a disturbed machine are inconclusive as the others", "[gate]") {
  const auto disturbed = [](Side side, int round, RunMetrics& run) {
    if (side == Side::head) slow_first(run, 3, 0.05);
    if (round > first_rounds && round % 3 == 0) slow_first(run, 12, 0.06);
  };
  const CheckResult result = check(disturbed, {}, {.time_limit_s = 20});
  CHECK(exit_code(result) == ExitCode::inconclusive);
  CHECK(count(result, Outcome::inconclusive) == 3);
}

TEST_CASE("A count that was or is zero is judged on its own scale", "[gate]") {
  // None or two errors become five: no logarithm where a round of the base has none.
  for (const double before : {0, 2}) {
    const auto errors = [=](Side side, int round, RunMetrics& run) {
      run.metrics[0].unit = "patterns";
      run.metrics[0].value = side == Side::head ? 5 : round % 4 == 0 ? 0 : before;
    };
    CHECK(exit_code(decides(errors, 0, Outcome::regression)) == ExitCode::check_failed);
  }
}
