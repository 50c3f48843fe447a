#include <catch2/catch_test_macros.hpp>

#include "gate/paired.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

TEST_CASE("With a throttle reason, a clock seen to fall once explains as much", "[gate]") {
  const auto slower_by = [](double share) {
    return decision(check([&](Side side, int round, RunMetrics& run) {
                      if (side != Side::head) return;
                      slow_down(run.metrics[2], share);
                      run.metrics[2].state.throttle_reasons = {"hw_thermal_slowdown"};
                      if (round % 5 == 0) run.metrics[2].state.sm_clock_hz = 1.98e9 / 1.2;
                    }),
                    2);
  };
  CHECK(slower_by(0.15).outcome == Outcome::inconclusive);
  CHECK(slower_by(0.4).outcome == Outcome::regression);
}

TEST_CASE("Nothing compared is no pass", "[gate]") {
  const auto is_none = [](const CheckResult& result) {
    CHECK(exit_code(result) == ExitCode::inconclusive);
    CHECK(headline(result).starts_with("INCONCLUSIVE: nothing was compared"));
  };
  is_none(check([](Side, int, RunMetrics& run) { run.metrics.clear(); }));
  is_none(check([](Side side, int, RunMetrics& run) {
    if (side == Side::base) run.metrics.clear();  // all are new
  }));
  const auto fail_all = [](Side, int, RunMetrics& run) {
    for (MetricValue& metric : run.metrics) metric.problem = "it failed";
  };
  is_none(check(fail_all));
  Rule some, all;
  some.pattern = "probe/1*";
  all.pattern = "*";
  some.ignore = all.ignore = true;
  some.reason = all.reason = "later";
  is_none(check(fail_all, {some}));
  CHECK(exit_code(check(fail_all, {all})) == ExitCode::ok);  // as the rules want it
}
