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
  CHECK(told(check(of_side(Side::head, slower), {}, {.max_suspects = 2})) ==
        "1 after 8: regression 1 2 inconclusive 0 3");
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
  CHECK(told(decides(gone(0.2), 3, Outcome::inconclusive, "neither side")) ==
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
  CHECK(told(result) == "3 after 2: inconclusive 3");
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
