#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "gate/stored.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// Forty metrics with 0.2 % from run to run.
RunMetrics planted_run(std::mt19937_64& generator, int day = 1) {
  std::normal_distribution<double> noise;
  RunMetrics run;
  run.origin = "run";
  run.fathom = true;
  run.suite = "quick";
  run.date = "2026-01-" + std::string(day < 10 ? "0" : "") + std::to_string(day) + "T00:00:00Z";
  run.identity = {{"gpu_name", "NVIDIA H200"}, {"driver", "580"}, {"power_limit_w", "700"}};
  for (int i = 0; i < 40; ++i) {
    MetricValue metric;
    metric.name = "probe/" + std::to_string(i);
    metric.unit = "B/s";
    metric.better = Better::higher;
    metric.value = 4e12 * std::exp(0.002 * noise(generator));
    metric.state = {1.98e9, 3.2e9, 400, {}};
    run.metrics.push_back(metric);
  }
  return run;
}

std::vector<RunMetrics> planted_baseline(int runs, std::mt19937_64& generator) {
  std::vector<RunMetrics> baseline;
  for (int day = 1; day <= runs; ++day) baseline.push_back(planted_run(generator, day));
  return baseline;
}

CheckResult check(const std::vector<RunMetrics>& baseline, const RunMetrics& head) {
  return check_stored(baseline, {&head, 1}, {}, {});
}

}  // namespace

TEST_CASE("A stored check passes what is like the earlier runs", "[gate]") {
  std::mt19937_64 generator(1);
  for (const int runs : {5, 10, 30}) {
    const auto baseline = planted_baseline(runs, generator);
    const CheckResult result = check(baseline, planted_run(generator, 31));
    CHECK(exit_code(result) == ExitCode::ok);
    CHECK(count(result, Outcome::unchanged) == 40);
  }
}

TEST_CASE("Four earlier runs are too few, five are not", "[gate]") {
  std::mt19937_64 generator(2);
  const auto four = planted_baseline(4, generator);
  const CheckResult result = check(four, planted_run(generator, 31));
  CHECK(exit_code(result) == ExitCode::inconclusive);
  REQUIRE(result.refusals.size() == 1);
  CHECK(result.refusals.front().find("4 runs of this identity and 5 are needed") !=
        std::string::npos);
  CHECK(result.metrics.empty());
}

TEST_CASE("A fall no larger than what the metric's family has jumped by is inconclusive",
          "[gate]") {
  std::mt19937_64 generator(11);
  auto baseline = planted_baseline(10, generator);
  baseline[4].metrics[3].value *= 0.93;
  RunMetrics head = planted_run(generator, 31);
  head.metrics[7].value *= 0.95;
  const CheckResult within = check(baseline, head);
  CHECK(within.metrics[7].outcome == Outcome::inconclusive);
  CHECK(within.metrics[7].reason.find("metrics of probe have jumped by up to 7.") !=
        std::string::npos);
  CHECK(exit_code(within) == ExitCode::inconclusive);

  head.metrics[7].value *= 0.95;  // 10 %, more than that
  CHECK(check(baseline, head).metrics[7].outcome == Outcome::regression);
  head.metrics[7].value /= 0.95;

  // Of another family it says nothing.
  for (RunMetrics& run : baseline) run.metrics[3].name = "another/3";
  head.metrics[3].name = "another/3";
  CHECK(check(baseline, head).metrics[7].outcome == Outcome::regression);
}

TEST_CASE("A single result may be off by chance where several are not", "[gate]") {
  std::mt19937_64 generator(15);
  const auto baseline = planted_baseline(30, generator);
  std::vector<RunMetrics> head{planted_run(generator, 31), planted_run(generator, 31)};
  for (RunMetrics& run : head) run.metrics[7].value = 4e12 * 0.984;
  const CheckResult single = check(baseline, head.front());
  CHECK(exit_code(single) == ExitCode::inconclusive);
  CHECK(single.metrics[7].reason.find("below 2 % a single result") != std::string::npos);
  const CheckResult two = check_stored(baseline, head, {}, {});
  CHECK(two.metrics[7].outcome == Outcome::regression);
  // One of the two alone is no more than a single one.
  head[1].metrics[7].value = 4e12;
  CHECK(exit_code(check_stored(baseline, head, {}, {})) == ExitCode::ok);
  // A rule says what counts for its metric.
  Rule rule;
  rule.pattern = "probe/7";
  rule.threshold = 0.015;
  rule.reason = "steady";
  CHECK(check_stored(baseline, {head.data(), 1}, {}, {rule}).metrics[7].outcome ==
        Outcome::inconclusive);
}

TEST_CASE("A fall of 5 % below thirty earlier runs is a regression", "[gate]") {
  std::mt19937_64 generator(3);
  const auto baseline = planted_baseline(30, generator);
  RunMetrics head = planted_run(generator, 31);
  head.metrics[7].value *= 0.95;
  head.metrics[8].value *= 1.06;
  head.metrics[9].value *= 0.996;
  const CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::check_failed);
  CHECK(count(result, Outcome::regression) == 1);
  CHECK(result.metrics[7].outcome == Outcome::regression);
  CHECK(result.metrics[8].outcome == Outcome::improved);
  CHECK(result.metrics[9].outcome == Outcome::unchanged);
  CHECK(*result.metrics[7].adjusted_p < 0.005);
}

TEST_CASE("The spread between earlier runs decides, not a fixed percentage", "[gate]") {
  std::mt19937_64 generator(4);
  std::normal_distribution<double> noise;
  auto baseline = planted_baseline(30, generator);
  for (RunMetrics& run : baseline) run.metrics[7].value *= std::exp(0.04 * noise(generator));
  RunMetrics head = planted_run(generator, 31);
  head.metrics[7].value *= 0.95;
  CHECK(exit_code(check(baseline, head)) == ExitCode::ok);
}

TEST_CASE("A lower clock is inconclusive in the stored mode too", "[gate]") {
  std::mt19937_64 generator(5);
  const auto baseline = planted_baseline(20, generator);
  RunMetrics head = planted_run(generator, 31);
  head.metrics[7].value *= 0.95;
  head.metrics[7].state.sm_clock_hz = 1.88e9;
  const CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::inconclusive);
  CHECK(result.metrics[7].reason.find("the SM clock moved from 1.98 GHz to 1.88 GHz") !=
        std::string::npos);
}

TEST_CASE("A regression says that something else held the clock down, which is not why", "[gate]") {
  std::mt19937_64 generator(12);
  const auto baseline = planted_baseline(20, generator);
  RunMetrics head = planted_run(generator, 31);
  head.metrics[7].value *= 0.5;
  head.metrics[7].state.throttle_reasons = {"sw_power_cap"};
  const CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::check_failed);
  CHECK(result.metrics[7].reason.find("changed from nothing to sw_power_cap") != std::string::npos);
}

TEST_CASE("A lost metric is missing, a new one waits for its runs", "[gate]") {
  std::mt19937_64 generator(6);
  auto baseline = planted_baseline(6, generator);
  for (std::size_t run = 0; run < 3; ++run) baseline[run].metrics.pop_back();  // 39 in three only
  for (std::size_t run = 3; run < 6; ++run)  // 20 was taken out of the suite
    baseline[run].metrics.erase(baseline[run].metrics.begin() + 20);
  RunMetrics head = planted_run(generator, 31);
  head.metrics.erase(head.metrics.begin() + 20);
  head.metrics.erase(head.metrics.begin() + 10);
  const CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::metric_missing);
  CHECK(result.metrics[10].outcome == Outcome::missing);
  CHECK(result.metrics[20].outcome == Outcome::unchanged);
  CHECK(result.metrics[39].outcome == Outcome::added);
}

TEST_CASE("What has too few earlier values and looks worse is no pass", "[gate]") {
  std::mt19937_64 generator(21);
  auto baseline = planted_baseline(8, generator);
  for (std::size_t run = 0; run < 4; ++run) baseline[run].metrics.pop_back();  // 39 in four only
  RunMetrics head = planted_run(generator, 31);
  MetricValue& added = head.metrics[39];
  added.value = baseline.back().metrics[39].value * (added.better == Better::lower ? 10 : 0.1);
  CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::inconclusive);
  CHECK(result.metrics[39].reason.find("only 4 of the earlier runs have it, and 5 are needed") !=
        std::string::npos);
  added.value = baseline.back().metrics[39].value;
  result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::ok);
  CHECK(result.metrics[39].outcome == Outcome::added);
  // A count of errors that was none and is none.
  for (RunMetrics* run : {&baseline[5], &baseline[6], &baseline[7], &head})
    run->metrics.push_back({"errors", "errors", Better::lower, 0, 0, {}, ""});
  CHECK(check(baseline, head).metrics.back().outcome == Outcome::added);
  head.metrics.back().value = 1;
  CHECK(check(baseline, head).metrics.back().outcome == Outcome::inconclusive);
}

TEST_CASE("What one of several new results lacks is missing", "[gate]") {
  std::mt19937_64 generator(22);
  const auto baseline = planted_baseline(8, generator);
  std::vector<RunMetrics> heads;
  for (int i = 0; i < 3; ++i) heads.push_back(planted_run(generator, 31 + i));
  for (int i = 1; i < 3; ++i) heads[static_cast<std::size_t>(i)].metrics.pop_back();
  const CheckResult result = check_stored(baseline, heads, {}, {});
  CHECK(exit_code(result) == ExitCode::metric_missing);
  CHECK(result.metrics[39].outcome == Outcome::missing);
  CHECK(result.metrics[39].reason == "only 1 of the 3 new results have it.");
}

TEST_CASE("A spread of zero makes no certainty", "[gate]") {
  std::mt19937_64 generator(23);
  auto baseline = planted_baseline(6, generator);
  for (RunMetrics& run : baseline) run.metrics[3].value = 100;
  RunMetrics head = planted_run(generator, 31);
  head.metrics[3].value = head.metrics[3].better == Better::lower ? 110 : 90;
  const CheckResult result = check(baseline, head);
  CHECK(result.metrics[3].outcome == Outcome::regression);
  CHECK(result.metrics[3].reason.find("p < 1e-06") != std::string::npos);
}

TEST_CASE("One partial run that is the newest hides no lost metric", "[gate]") {
  std::mt19937_64 generator(13);
  auto baseline = planted_baseline(6, generator);
  baseline[5].metrics.resize(10);
  RunMetrics head = planted_run(generator, 31);
  head.metrics.resize(10);
  const CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::metric_missing);
  CHECK(count(result, Outcome::missing) == 30);
}

TEST_CASE("Nothing compared with earlier runs is no pass", "[gate]") {
  std::mt19937_64 generator(14);
  const auto baseline = planted_baseline(6, generator);
  auto empty = baseline;
  for (RunMetrics& run : empty) run.metrics.clear();
  const RunMetrics head = planted_run(generator, 31);
  const auto is_none = [](const CheckResult& result) {
    CHECK(exit_code(result) == ExitCode::inconclusive);
    CHECK(headline(result).starts_with("INCONCLUSIVE: nothing was compared"));
  };
  is_none(check(empty, head));  // all are new
  RunMetrics none = head;
  none.metrics.clear();
  is_none(check(empty, none));
  auto failed = baseline;
  RunMetrics failed_head = head;
  for (RunMetrics& run : failed)
    for (MetricValue& metric : run.metrics) metric.problem = "it failed";
  for (MetricValue& metric : failed_head.metrics) metric.problem = "it failed";
  is_none(check(failed, failed_head));
}

TEST_CASE("Replays and other identities are refused with the difference", "[gate]") {
  std::mt19937_64 generator(7);
  const auto baseline = planted_baseline(6, generator);
  RunMetrics head = planted_run(generator, 31);
  head.replay = true;
  CHECK(exit_code(check(baseline, head)) == ExitCode::inconclusive);
  head.replay = false;
  head.identity[2].second = "500";
  const CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::inconclusive);
  REQUIRE(!result.refusals.empty());
  CHECK(result.refusals.front() == "different power_limit_w: 700 and 500");
  const auto reasons = why_none_like(head, {baseline.front()});
  REQUIRE(reasons.size() == 1);
  CHECK(reasons.front().find("power_limit_w: 700 and 500") != std::string::npos);
}

TEST_CASE("A result that was added before it is checked is not held against itself", "[gate]") {
  std::mt19937_64 generator(11);
  auto baseline = planted_baseline(6, generator);
  RunMetrics head = planted_run(generator, 31);
  head.metrics[4].value *= 0.9;
  head.metrics[7].problem = "its output was wrong";
  baseline.push_back(head);
  std::erase_if(baseline.back().metrics,
                [](const MetricValue& metric) { return !metric.problem.empty(); });
  RunMetrics other = head;
  other.metrics[0].value *= 1.001;  // of the same second
  baseline.push_back(other);
  CHECK(leave_out_themselves(baseline, {&head, 1}) == 1);
  CHECK(baseline.size() == 7);
  CHECK(baseline.back().metrics == other.metrics);
  // A program that writes no date may be one whose figures are the same every time.
  RunMetrics undated = head;
  undated.date.clear();
  baseline.push_back(undated);
  CHECK(leave_out_themselves(baseline, {&undated, 1}) == 0);
}
