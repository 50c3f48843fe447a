// What becomes of suspects and improvements in the fresh rounds of a paired check.

#include "gate/outputs.h"
#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

constexpr int first_rounds = 4;

/// The head's first so many metrics are slower.
PlantedRounds::Change slower(std::size_t metrics, double by) {
  return [=](Side side, int, RunMetrics& run) {
    if (side == Side::head)
      for (std::size_t i = 0; i < metrics; ++i) slow_down(run.metrics[i], by);
  };
}

/// Leaves a metric out of a round.
void lose(RunMetrics& run, const std::string& name) {
  std::erase_if(run.metrics, [&](const MetricValue& metric) { return metric.name == name; });
}

}  // namespace

TEST_CASE("A metric that is there in some rounds only is not compared", "[gate]") {
  for (const Side of : {Side::base, Side::head}) {
    for (const int lost : {2, 7}) {  // among the first rounds, among the fresh ones
      CAPTURE(lost, of == Side::head);
      int seen = 0;
      const CheckResult result = check([&](Side side, int round, RunMetrics& run) {
        if (side == Side::head) slow_down(run.metrics[3], 0.5);
        // From there on the side's first round that has it.
        if (side == of && round >= lost && seen++ == 0) lose(run, "probe/3");
      });
      const MetricDecision& decided = decision(result, 3);
      CHECK(decided.outcome == (of == Side::head ? Outcome::missing : Outcome::inconclusive));
      CHECK_THAT(decided.reason, contains("rounds"));
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
  decides(of_side(Side::head,
                  [](RunMetrics& run) {
                    run.metrics[2].better = Better::higher, run.metrics[2].value *= 2;
                  }),
          2, Outcome::inconclusive, "higher is better");
}

TEST_CASE("Only so many suspects are measured again, improvements after them", "[gate]") {
  const CheckResult result = check(slower(4, 0.1), {}, {.max_suspects = 2});
  CHECK(count(result, Outcome::regression) == 2);
  CHECK(count(result, Outcome::inconclusive) == 2);
  const auto check_within = [](double time_limit_s, std::size_t improved) {
    const CheckResult decided = check(of_side(Side::head,
                                              [](RunMetrics& run) {
                                                for (std::size_t i = 0; i < 8; ++i)
                                                  slow_down(run.metrics[i], i < 3 ? 0.05 : -0.05);
                                                for (MetricValue& metric : run.metrics)
                                                  metric.elapsed_s = 0.15;
                                              }),
                                      {}, {.time_limit_s = time_limit_s});
    CHECK(count(decided, Outcome::regression) == 3);
    CHECK(count(decided, Outcome::improved) == improved);
    CHECK(count(decided, Outcome::inconclusive) == 0);
  };
  check_within(180, 5);
  check_within(38, 0);  // into which rounds of the suspects alone fit
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
  for (const char* name : {"probe/3", "probe/0"}) {
    CAPTURE(name);
    const CheckResult result = check([&](Side side, int round, RunMetrics& run) {
      if (side == Side::head) slow_down(run.metrics[3], 0.1);
      if (side == Side::head && round > first_rounds && round <= first_rounds + 4)
        std::ranges::find(run.metrics, name, &MetricValue::name)->problem = "its output was wrong";
    });
    const auto decided = std::ranges::find(result.metrics, name, &MetricDecision::name);
    CHECK(decided->outcome == Outcome::missing);
    CHECK_THAT(decided->reason, contains("its output was wrong"));
    // Nothing is to be gained from measuring that suspect further.
    if (std::string(name) == "probe/3") CHECK(result.confirmation_rounds == 2);
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
    if (side == Side::head)
      for (std::size_t i = 0; i < 3; ++i) slow_down(run.metrics[i], 0.05);
    if (round > first_rounds && round % 3 == 0)
      for (MetricValue& metric : run.metrics) slow_down(metric, 0.06);
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
