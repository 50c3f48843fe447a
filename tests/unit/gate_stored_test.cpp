#include "gate/check.h"

#include <fmt/ranges.h>

#include <ranges>

#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// Earlier runs and new results, the heads, of forty metrics that differ by `spread` from run to
/// run.
struct Stored {
  explicit Stored(unsigned seed, int runs, int results = 1, double spread = 0.002) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> noise(0, spread);
    for (int day = 1; day <= runs + results; ++day) {
      RunMetrics run{.origin = "run", .fathom = true, .suite = "quick"};
      run.date = fmt::format("2026-01-{:02}T00:00:00Z", std::min(day, runs + 1));
      run.identity = {{"gpu_name", "NVIDIA H200"}, {"driver", "580"}, {"power_limit_w", "700"}};
      for (int i = 0; i < 40; ++i)
        run.metrics.push_back({.name = "probe/" + std::to_string(i),
                               .unit = "B/s",
                               .better = Better::higher,
                               .value = 4e12 * std::exp(noise(generator)),
                               .state = {1.98e9, 3.2e9, 400, {}}});
      (day <= runs ? baseline : heads).push_back(std::move(run));
    }
  }

  CheckResult check(const Rules& rules = {}) const { return check_stored(baseline, heads, rules); }
  CheckResult check_first() const { return check_stored(baseline, {&heads.front(), 1}, {}); }
  void slow_heads(std::size_t metric, double by) {
    for (RunMetrics& run : heads) run.metrics[metric].value /= 1 + by;
  }
  RunMetrics& head() { return heads.front(); }

  std::vector<RunMetrics> baseline, heads;
};

std::string all_of(const std::vector<std::string>& sentences) {
  return fmt::format("{}", fmt::join(sentences, "\n"));
}

}  // namespace

TEST_CASE("One fast result of five does not hide what the others show", "[gate]") {
  Stored stored(15, 24, 5);
  stored.slow_heads(7, 0.1);
  stored.head().metrics[7].value *= 1.1;
  CHECK(told(stored.check()) == "1: regression 7");
}

TEST_CASE("Where one result cannot be sure it says how many more it takes", "[gate]") {
  Stored stored(15, 5, 3);
  stored.slow_heads(7, 0.05);
  const CheckResult single = stored.check_first();
  CHECK(told(single) == "3: inconclusive 7");
  CHECK_THAT(single.metrics[7].reason, contains("but 1 result cannot be sure: give 2 more"));
  const CheckResult three = stored.check();
  CHECK(told(three) == "1: regression 7");
  CHECK(three.metrics[7].evidence->p == 1.0 / 56);
  CHECK(headline(three) == "FAIL: 1 regression");
  // Two slow results of three are no more than those.
  stored.heads[1].metrics[7].value = 4e12;
  CHECK(told(stored.check()) == "0:");
  // What may be better is undecided, and passes.
  for (RunMetrics& run : stored.heads) run.metrics[7].value = 24e12;
  const CheckResult better = stored.check_first();
  CHECK(told(better) == "0: undecided 7");
  CHECK_THAT(better.metrics[7].reason, contains("1 result cannot be sure: give 2 more"));
  CHECK(told(stored.check()) == "0: improved 7");
}

TEST_CASE("What moves most metrics alike is the machine and no regression", "[gate]") {
  for (const int runs : {5, 10, 30}) {
    for (const auto& [moved, by] :
         {std::pair{40u, 0.03}, {40u, 0.015}, {40u, -0.03}, {35u, 0.03}}) {
      Stored stored(16, runs, 3);
      for (std::size_t metric = 0; metric < moved; ++metric) stored.slow_heads(metric, by);
      stored.slow_heads(3, 0.2);  // nor is anything beside it
      const CheckResult result = stored.check();
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
    Stored stored(17, 10, 3);
    for (std::size_t i = 0; i < slower.size(); ++i) stored.slow_heads(i, slower[i]);
    for (auto* runs : {&stored.baseline, &stored.heads})
      for (RunMetrics& run : *runs) run.metrics.resize(metrics);
    return stored.check();
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
    std::vector<double> beside(metrics, 0.03);
    beside[0] = 0.1;
    for (const auto& slower : {std::vector{0.05}, beside}) {
      const CheckResult one = of_metrics(metrics, slower);
      CHECK(exit_code(one) == ExitCode::check_failed);
      CHECK(one.metrics[0].outcome == Outcome::regression);
      CHECK(count(one, Outcome::regression) == 1);
    }
    CHECK(exit_code(of_metrics(metrics, {-0.2})) == ExitCode::ok);
  }
  CHECK(count(of_metrics(3, {0.05, 0.05}), Outcome::regression) == 2);
  // In no run of the other's it has no witness either.
  Stored apart(17, 10, 3);
  apart.slow_heads(0, 0.2);
  for (std::size_t run = 0; run < 10; ++run) {
    auto& metrics = apart.baseline[run].metrics;
    metrics = {metrics[run < 5 ? 0 : 1]};
  }
  for (RunMetrics& run : apart.heads) run.metrics.resize(2);
  CHECK(exit_code(apart.check()) == ExitCode::inconclusive);
  CHECK_THAT(apart.check().metrics[0].reason, contains("not surely more than the others"));
  // One alone has no witness: its slowdowns fail, and the check says what they may be.
  const CheckResult alone = of_metrics(1, {0.05});
  CHECK(exit_code(alone) == ExitCode::check_failed);
  CHECK_THAT(all_of(alone.notes), contains("a slower machine cannot be told from slower code"));
}

TEST_CASE("A machine that was as slow before is taken out of its runs", "[gate]") {
  Stored stored(18, 10, 3);
  for (const std::size_t run : {2, 6})
    for (MetricValue& metric : stored.baseline[run].metrics) metric.value /= 1.03;
  for (std::size_t metric = 0; metric < 40; ++metric) stored.slow_heads(metric, 0.03);
  CHECK(told(stored.check()) == "0:");
  stored.slow_heads(7, 0.03);
  CHECK(told(stored.check()) == "1: regression 7");
}

TEST_CASE("A drift is said, and is no regression", "[gate]") {
  Stored stored(19, 30, 3);
  int number = 0;
  for (auto* runs : {&stored.baseline, &stored.heads})
    for (RunMetrics& run : *runs) run.metrics[5].value /= 1 + 0.002 * number++;
  const CheckResult result = stored.check();
  CHECK(told(result) == "0:");
  CHECK_THAT(all_of(result.notes),
             contains("a drift for the worse in 1 metric, probe/5 the most, by 5.92 %"));
  stored.slow_heads(5, 0.1);
  CHECK(told(stored.check()) == "1: regression 5");
}

TEST_CASE("A pass says what it could have seen, and one that could see nothing is none", "[gate]") {
  Stored stored(20, 10);
  const CheckResult before = stored.check();
  REQUIRE(exit_code(before) == ExitCode::ok);
  CHECK_THAT(all_of(before.notes),
             contains("would have passed in half of the 40 metrics, and one below "));
  // What it says is what it does.
  const double limit = std::expm1(before.metrics[7].evidence->threshold);
  for (const auto& [share, code] : {std::pair(1.2, ExitCode::inconclusive), {0.8, ExitCode::ok}}) {
    stored.head().metrics[7].value = *before.metrics[7].base / (1 + share * limit);
    CHECK(exit_code(stored.check()) == code);
  }
  // What is too small to count passes however quiet the runs are.
  CHECK_THAT(all_of(Stored(24, 10, 3, 1e-6).check().notes),
             EndsWith("a slowdown below 1 % would have passed"));
  for (const double spread : {0.02, 0.5}) {
    const Stored wild(23, 10, 3, spread);
    const CheckResult nothing = wild.check_first();
    CHECK(exit_code(nothing) == ExitCode::inconclusive);
    CHECK(headline(nothing).starts_with("INCONCLUSIVE: nothing could be seen"));
    CHECK_THAT(all_of(nothing.refusals), contains("give 1 more of the same commit"));
    CHECK(exit_code(wild.check()) == (spread < 0.1 ? ExitCode::ok : ExitCode::inconclusive));
    // Who lets only more than 300 % count, sees that.
    CHECK(exit_code(wild.check({{"*", false, 3, "very noisy"}})) == ExitCode::ok);
  }
}

TEST_CASE("A lower clock is inconclusive in the stored mode too", "[gate]") {
  Stored stored(5, 30);
  MetricValue& slower = stored.head().metrics[7];
  slower.value *= 0.95;
  slower.state.sm_clock_hz = 1.88e9;
  const CheckResult result = stored.check();
  CHECK(told(result) == "3: inconclusive 7");
  CHECK_THAT(result.metrics[7].reason, contains("the SM clock moved from 1.98 GHz to 1.88 GHz"));
  // What held it down is not why half is gone.
  slower.value *= 0.5;
  slower.state = {1.98e9, 3.2e9, 400, {"sw_power_cap"}};
  CHECK(told(stored.check()) == "1: regression 7");
}

TEST_CASE("A lost metric is missing, a new one waits for its runs", "[gate]") {
  Stored stored(6, 6);
  for (std::size_t run = 0; run < 3; ++run)
    stored.baseline[run].metrics.pop_back();  // 39 in three only
  for (std::size_t run = 3; run < 6; ++run)   // 20 was taken out of the suite
    stored.baseline[run].metrics.erase(stored.baseline[run].metrics.begin() + 20);
  for (const int lost : {20, 10}) stored.head().metrics.erase(stored.head().metrics.begin() + lost);
  CHECK(told(stored.check()) == "4: missing 10 added 39");
  // One partial run that is the newest hides no lost metric.
  Stored partial(13, 6);
  for (RunMetrics* run : {&partial.baseline[5], &partial.head()}) run->metrics.resize(10);
  CHECK(count(partial.check(), Outcome::missing) == 30);
  // What one of several new results lacks is missing.
  Stored several(22, 8, 3);
  for (const std::size_t run : {1, 2}) several.heads[run].metrics.pop_back();
  const CheckResult result = several.check();
  CHECK(told(result) == "4: missing 39");
  CHECK(result.metrics[39].reason == "it is in 1 of the 3 new results.");
}

TEST_CASE("What has too few earlier values and looks worse is no pass", "[gate]") {
  Stored stored(21, 8);
  auto& baseline = stored.baseline;
  for (std::size_t run = 0; run < 4; ++run) baseline[run].metrics.pop_back();  // 39 in four only
  stored.head().metrics[39].value = baseline.back().metrics[39].value * 0.1;
  const CheckResult result = stored.check();
  CHECK(told(result) == "3: inconclusive 39");
  CHECK_THAT(result.metrics[39].reason,
             contains("it is in 4 of the earlier runs, and 5 are needed"));
  stored.head().metrics[39].value = baseline.back().metrics[39].value;
  CHECK(told(stored.check()) == "0: added 39");
  // A count of errors that was none and is none.
  for (RunMetrics* run : {&baseline[5], &baseline[6], &baseline[7], &stored.head()})
    run->metrics.push_back({"errors", "errors", Better::lower, 0, 0, {}, ""});
  CHECK(told(stored.check()) == "0: added 39 40");
  stored.head().metrics.back().value = 1;
  CHECK(told(stored.check()) == "3: inconclusive 40 added 39");
}

TEST_CASE("A spread of zero makes no certainty", "[gate]") {
  Stored stored(23, 6, 3);
  for (RunMetrics& run : stored.baseline) run.metrics[3].value = 100;
  for (RunMetrics& run : stored.heads) run.metrics[3].value = 90;
  CHECK(told(stored.check_first()) == "3: inconclusive 3");
  const CheckResult result = stored.check();
  CHECK(told(result) == "1: regression 3");
  CHECK(result.metrics[3].evidence->p == 1.0 / 84);
}

TEST_CASE("Too few earlier runs, or of other identities, are refused", "[gate]") {
  Stored stored(2, 5);
  CHECK(exit_code(stored.check()) == ExitCode::ok);
  Stored other = stored;
  other.head().identity[2].second = "500";
  CHECK(other.check().refusals.at(0) == "different power_limit_w: 700 and 500");
  stored.baseline.pop_back();
  const CheckResult four = stored.check();
  CHECK(told(four) == "3:");
  CHECK_THAT(four.refusals.at(0), contains("4 runs of this identity and 5 are needed"));
  CHECK(four.metrics.empty());
}

TEST_CASE("A result that was added before it is checked is not held against itself", "[gate]") {
  Stored stored(11, 6);
  auto& [baseline, heads] = stored;
  heads[0].metrics[7].problem = "its output was wrong";
  baseline.push_back(heads[0]);
  std::erase_if(baseline.back().metrics,
                [](const MetricValue& metric) { return !metric.problem.empty(); });
  RunMetrics other = heads[0];
  other.metrics[0].value *= 1.001;  // of the same second
  baseline.push_back(other);
  CHECK(leave_out_themselves(baseline, heads) == 1);
  CHECK(baseline.size() == 7);
  CHECK(baseline.back().metrics == other.metrics);
  // A program that writes no date may be one whose figures are the same every time.
  heads[0].date.clear();
  baseline.push_back(heads[0]);
  CHECK(leave_out_themselves(baseline, heads) == 0);
}
