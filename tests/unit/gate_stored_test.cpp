#include <fmt/ranges.h>

#include <ranges>

#include "gate/stored.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// Forty metrics with 0.2 % from run to run.
RunMetrics planted_run(std::mt19937_64& generator, int day = 1) {
  std::normal_distribution<double> noise;
  RunMetrics run{.origin = "run", .fathom = true, .suite = "quick"};
  run.date = fmt::format("2026-01-{:02}T00:00:00Z", day);
  run.identity = {{"gpu_name", "NVIDIA H200"}, {"driver", "580"}, {"power_limit_w", "700"}};
  for (int i = 0; i < 40; ++i) {
    const double value = 4e12 * std::exp(0.002 * noise(generator));
    run.metrics.push_back({.name = "probe/" + std::to_string(i),
                           .unit = "B/s",
                           .better = Better::higher,
                           .value = value,
                           .state = {1.98e9, 3.2e9, 400, {}}});
  }
  return run;
}

std::vector<RunMetrics> planted_baseline(int runs, std::mt19937_64& generator) {
  std::vector<RunMetrics> baseline;
  for (int day = 1; day <= runs; ++day) baseline.push_back(planted_run(generator, day));
  return baseline;
}

CheckResult check(const std::vector<RunMetrics>& baseline, const RunMetrics& head) {
  return check_stored(baseline, {&head, 1}, {});
}

std::vector<RunMetrics> planted_heads(int results, std::mt19937_64& generator) {
  std::vector<RunMetrics> heads;
  for (int i = 0; i < results; ++i) heads.push_back(planted_run(generator, 31));
  return heads;
}

/// So many earlier runs, and so many results of the head.
std::pair<std::vector<RunMetrics>, std::vector<RunMetrics>> planted(unsigned seed, int runs,
                                                                    int results) {
  std::mt19937_64 generator(seed);
  const auto baseline = planted_baseline(runs, generator);
  return {baseline, planted_heads(results, generator)};
}
std::pair<std::vector<RunMetrics>, RunMetrics> planted(unsigned seed, int runs) {
  const auto [baseline, heads] = planted(seed, runs, 1);
  return {baseline, heads.front()};
}

void slow_down(std::vector<RunMetrics>& runs, std::size_t metric, double by) {
  for (RunMetrics& run : runs) run.metrics[metric].value /= 1 + by;
}

bool says(const std::vector<std::string>& sentences, std::string_view words) {
  return fmt::format("{}", fmt::join(sentences, "\n")).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("Where one result cannot be sure it says how many more it takes", "[gate]") {
  auto [baseline, head] = planted(15, 5, 3);
  slow_down(head, 7, 0.05);
  const CheckResult single = check(baseline, head.front());
  CHECK(exit_code(single) == ExitCode::inconclusive);
  CHECK_THAT(single.metrics[7].reason, contains("but 1 result cannot be sure: give 2 more"));
  const CheckResult three = check_stored(baseline, head, {});
  CHECK(exit_code(three) == ExitCode::check_failed);
  CHECK(three.metrics[7].outcome == Outcome::regression);
  CHECK(*three.metrics[7].adjusted_p == 1.0 / 56);
  CHECK(headline(three) == "FAIL: 1 regression");
  // Two slow results of three are no more than those.
  head[1].metrics[7].value = 4e12;
  CHECK(exit_code(check_stored(baseline, head, {})) == ExitCode::ok);
}

TEST_CASE("What moves most metrics alike is the machine and no regression", "[gate]") {
  std::mt19937_64 generator(16);
  for (const int runs : {5, 10, 30}) {
    const auto baseline = planted_baseline(runs, generator);
    for (const auto& [moved, by] :
         {std::pair{40u, 0.03}, {40u, 0.015}, {40u, -0.03}, {35u, 0.03}}) {
      auto head = planted_heads(3, generator);
      for (std::size_t metric = 0; metric < moved; ++metric) slow_down(head, metric, by);
      slow_down(head, 3, 0.2);  // nor is anything beside it
      const CheckResult result = check_stored(baseline, head, {});
      CHECK(exit_code(result) == ExitCode::inconclusive);
      CHECK(headline(result).starts_with(
          fmt::format("INCONCLUSIVE: {} of 40 metrics together are ", by > 0 ? moved : moved - 1)));
      CHECK(count(result, Outcome::regression) == 0);
      CHECK(result.metrics[3].outcome == Outcome::inconclusive);
      // Nor is one of these called unchanged.
      CHECK(std::ranges::none_of(result.metrics | std::views::take(moved), [](const auto& metric) {
        return metric.outcome == Outcome::unchanged;
      }));
    }
  }
}

TEST_CASE("Of two to four metrics one that is worse than another is a regression", "[gate]") {
  const auto of_metrics = [](std::size_t metrics, const std::vector<double>& slower) {
    auto [baseline, head] = planted(17, 10, 3);
    for (std::size_t i = 0; i < slower.size(); ++i) slow_down(head, i, slower[i]);
    for (auto* runs : {&baseline, &head})
      for (RunMetrics& run : *runs) run.metrics.resize(metrics);
    return check_stored(baseline, head, {});
  };
  for (const std::size_t metrics : {2, 3, 4}) {
    INFO(metrics);
    for (const double by : {0.03, 0.2}) {
      const CheckResult machine = of_metrics(metrics, std::vector(metrics, by));
      CHECK(exit_code(machine) == ExitCode::inconclusive);
      CHECK(count(machine, Outcome::inconclusive) == metrics);
      CHECK(headline(machine).starts_with(fmt::format(
          "INCONCLUSIVE: {0} of {0} metrics got worse, and not surely more than", metrics)));
    }
    const CheckResult one = of_metrics(metrics, {0.05});
    CHECK(exit_code(one) == ExitCode::check_failed);
    CHECK(count(one, Outcome::regression) == 1);
    std::vector<double> beside(metrics, 0.03);
    beside[0] = 0.1;
    CHECK(of_metrics(metrics, beside).metrics[0].outcome == Outcome::regression);
    CHECK(count(of_metrics(metrics, beside), Outcome::regression) == 1);
    CHECK(exit_code(of_metrics(metrics, {-0.2})) == ExitCode::ok);
  }
  CHECK(count(of_metrics(3, {0.05, 0.05}), Outcome::regression) == 2);
  // One alone has no witness: its slowdowns fail, and the check says what they may be.
  const CheckResult alone = of_metrics(1, {0.05});
  CHECK(exit_code(alone) == ExitCode::check_failed);
  CHECK(says(alone.notes, "a slower machine cannot be told from slower code"));
}

TEST_CASE("What one result cannot be sure is better is undecided, and passes", "[gate]") {
  auto [baseline, head] = planted(25, 5, 3);
  for (RunMetrics& run : head) run.metrics[7].value *= 6;
  const CheckResult result = check(baseline, head.front());
  CHECK(exit_code(result) == ExitCode::ok);
  CHECK(result.metrics[7].outcome == Outcome::undecided);
  CHECK_THAT(result.metrics[7].reason, contains("1 result cannot be sure: give 2 more"));
  CHECK(count(result, Outcome::unchanged) == 39);
  CHECK(check_stored(baseline, head, {}).metrics[7].outcome == Outcome::improved);
}

TEST_CASE("A machine that was as slow before is taken out of its runs", "[gate]") {
  auto [baseline, head] = planted(18, 10, 3);
  for (RunMetrics* run : {&baseline[2], &baseline[6]})
    for (MetricValue& metric : run->metrics) metric.value /= 1.03;
  for (std::size_t metric = 0; metric < 40; ++metric) slow_down(head, metric, 0.03);
  CHECK(exit_code(check_stored(baseline, head, {})) == ExitCode::ok);
  slow_down(head, 7, 0.03);
  const CheckResult result = check_stored(baseline, head, {});
  CHECK(count(result, Outcome::regression) == 1);
  CHECK(result.metrics[7].outcome == Outcome::regression);
}

TEST_CASE("A drift is said, and is no regression", "[gate]") {
  auto [baseline, head] = planted(19, 30, 3);
  int number = 0;
  for (auto* runs : {&baseline, &head})
    for (RunMetrics& run : *runs) run.metrics[5].value /= 1 + 0.002 * number++;
  CheckResult result = check_stored(baseline, head, {});
  CHECK(exit_code(result) == ExitCode::ok);
  CHECK(says(result.notes, "a drift for the worse in 1 metric, probe/5 the most, by "));
  slow_down(head, 5, 0.1);
  CHECK(check_stored(baseline, head, {}).metrics[5].outcome == Outcome::regression);
}

TEST_CASE("A pass says what it could have seen, and one that could see nothing is none", "[gate]") {
  std::mt19937_64 generator(20);
  const auto baseline = planted_baseline(10, generator);
  const CheckResult result = check(baseline, planted_run(generator, 31));
  REQUIRE(exit_code(result) == ExitCode::ok);
  CHECK(says(result.notes, "would have passed in half of the 40 metrics, and one below "));
  // What it says is what it does.
  auto head = planted_heads(1, generator);
  const CheckResult before = check(baseline, head.front());
  const double limit = std::expm1(before.metrics[7].evidence->threshold);
  head.front().metrics[7].value = *before.metrics[7].base / (1 + 1.2 * limit);
  CHECK(exit_code(check(baseline, head.front())) == ExitCode::inconclusive);
  head.front().metrics[7].value = *before.metrics[7].base / (1 + 0.8 * limit);
  CHECK(exit_code(check(baseline, head.front())) == ExitCode::ok);

  std::normal_distribution<double> noise;
  for (const double spread : {0.02, 0.5}) {
    generator.seed(23);
    auto wild = planted_baseline(10, generator);
    auto heads = planted_heads(3, generator);
    for (auto* runs : {&wild, &heads})
      for (RunMetrics& run : *runs)
        for (MetricValue& metric : run.metrics) metric.value *= std::exp(spread * noise(generator));
    const CheckResult nothing = check(wild, heads.front());
    CHECK(exit_code(nothing) == ExitCode::inconclusive);
    CHECK(headline(nothing).starts_with("INCONCLUSIVE: nothing could be seen"));
    CHECK(says(nothing.refusals, "give 1 more of the same commit"));
    const CheckResult of_three = check_stored(wild, heads, {});
    CHECK(exit_code(of_three) == (spread < 0.1 ? ExitCode::ok : ExitCode::inconclusive));
    // Who lets only more than 300 % count, sees that.
    const Rules rules{{"*", false, 3, "very noisy"}};
    CHECK(exit_code(check_stored(wild, heads, rules)) == ExitCode::ok);
  }
}

TEST_CASE("A lower clock is inconclusive in the stored mode too", "[gate]") {
  auto [baseline, head] = planted(5, 30);
  head.metrics[7].value *= 0.95;
  head.metrics[7].state.sm_clock_hz = 1.88e9;
  const CheckResult slower = check(baseline, head);
  CHECK(exit_code(slower) == ExitCode::inconclusive);
  CHECK(says({slower.metrics[7].reason}, "the SM clock moved from 1.98 GHz to 1.88 GHz"));
  // What held it down is not why half is gone.
  head.metrics[7].value *= 0.5;
  head.metrics[7].state = {1.98e9, 3.2e9, 400, {"sw_power_cap"}};
  const CheckResult half = check(baseline, head);
  CHECK(exit_code(half) == ExitCode::check_failed);
}

TEST_CASE("A lost metric is missing, a new one waits for its runs", "[gate]") {
  auto [baseline, head] = planted(6, 6);
  for (std::size_t run = 0; run < 3; ++run) baseline[run].metrics.pop_back();  // 39 in three only
  for (std::size_t run = 3; run < 6; ++run)  // 20 was taken out of the suite
    baseline[run].metrics.erase(baseline[run].metrics.begin() + 20);
  head.metrics.erase(head.metrics.begin() + 20);
  head.metrics.erase(head.metrics.begin() + 10);
  CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::metric_missing);
  CHECK(result.metrics[10].outcome == Outcome::missing);
  CHECK(result.metrics[20].outcome == Outcome::unchanged);
  CHECK(result.metrics[39].outcome == Outcome::added);
  // One partial run that is the newest hides no lost metric.
  std::tie(baseline, head) = planted(13, 6);
  baseline[5].metrics.resize(10);
  head.metrics.resize(10);
  result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::metric_missing);
  CHECK(count(result, Outcome::missing) == 30);
  // What one of several new results lacks is missing.
  auto [earlier, heads] = planted(22, 8, 3);
  for (RunMetrics* run : {&heads[1], &heads[2]}) run->metrics.pop_back();
  result = check_stored(earlier, heads, {});
  CHECK(exit_code(result) == ExitCode::metric_missing);
  CHECK(result.metrics[39].reason == "it is in 1 of the 3 new results.");
}

TEST_CASE("What has too few earlier values and looks worse is no pass", "[gate]") {
  auto [baseline, head] = planted(21, 8);
  for (std::size_t run = 0; run < 4; ++run) baseline[run].metrics.pop_back();  // 39 in four only
  MetricValue& added = head.metrics[39];
  added.value = baseline.back().metrics[39].value * (added.better == Better::lower ? 10 : 0.1);
  CheckResult result = check(baseline, head);
  CHECK(exit_code(result) == ExitCode::inconclusive);
  CHECK_THAT(result.metrics[39].reason,
             contains("it is in 4 of the earlier runs, and 5 are needed"));
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

TEST_CASE("A spread of zero makes no certainty", "[gate]") {
  auto [baseline, head] = planted(23, 6, 3);
  for (RunMetrics& run : baseline) run.metrics[3].value = 100;
  for (RunMetrics& run : head) run.metrics[3].value = 90;
  CHECK(check(baseline, head.front()).metrics[3].outcome == Outcome::inconclusive);
  const CheckResult result = check_stored(baseline, head, {});
  CHECK(result.metrics[3].outcome == Outcome::regression);
  CHECK(*result.metrics[3].adjusted_p == 1.0 / 84);
}

TEST_CASE("Too few earlier runs, or of other identities, are refused", "[gate]") {
  auto [baseline, head] = planted(2, 5);
  head.identity[2].second = "500";
  CHECK(exit_code(check(baseline, head)) == ExitCode::inconclusive);
  CHECK(check(baseline, head).refusals.at(0) == "different power_limit_w: 700 and 500");
  head.identity[2].second = "700";
  CHECK(exit_code(check(baseline, head)) == ExitCode::ok);
  baseline.pop_back();
  const CheckResult four = check(baseline, head);
  CHECK(exit_code(four) == ExitCode::inconclusive);
  CHECK_THAT(four.refusals.at(0), contains("4 runs of this identity and 5 are needed"));
  CHECK(four.metrics.empty());
}

TEST_CASE("A result that was added before it is checked is not held against itself", "[gate]") {
  auto [baseline, head] = planted(11, 6);
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
