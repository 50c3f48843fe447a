#include "gate/check.h"

#include "gate/decision.h"
#include "gate/ranks.h"
#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

MetricSeries series_of_times(const std::vector<double>& base, const std::vector<double>& head) {
  MetricSeries series{.name = "time", .unit = "s"};
  for (const double value : base)
    series.base.push_back({.name = "time", .unit = "s", .value = value});
  for (const double value : head)
    series.head.push_back({.name = "time", .unit = "s", .value = value});
  return series;
}

void fail_all(RunMetrics& run) {
  for (MetricValue& metric : run.metrics) metric.problem = "it failed";
}

Rule ignoring(const std::string& pattern) {
  return {.pattern = pattern, .ignore = true, .threshold = {}, .reason = "to be removed"};
}

}  // namespace

TEST_CASE("The noise floor is how far sides of so many rounds differ by chance", "[gate]") {
  // Half of each side's rounds 1 % above, half 1 % below.
  const auto evidence_of = [](int rounds, double slower) {
    std::vector<double> base, head;
    for (int round = 0; round < rounds; ++round) {
      base.push_back(std::exp(round % 2 == 0 ? 0.01 : -0.01));
      head.push_back(base.back() * std::exp(slower));
    }
    return evidence_of_rounds(series_of_times(base, head));
  };
  // 1.4826 x 1 %, of which two medians were fitted: of 4 values, of 16.
  const double of_two = 0.014826 * std::sqrt(4.0 / 2), of_eight = 0.014826 * std::sqrt(16.0 / 14);
  CHECK(evidence_of(2, 0).noise_floor == Approx(of_two).epsilon(1e-3));
  CHECK(evidence_of(8, 0).noise_floor == Approx(of_eight / 2).epsilon(1e-3));
  // Three times one round's noise would be above 4 %.
  const Evidence slower = evidence_of(8, 0.03);
  CHECK(slower.threshold == Approx(3 * of_eight / 2).epsilon(1e-3));
  CHECK(slower.worse_by > slower.threshold);
}

TEST_CASE("Rounds alternate in blocks that cancel a drift", "[gate]") {
  std::set<Side> firsts;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto order = round_order(4, seed);
    REQUIRE(order.size() == 8);
    for (std::size_t block = 0; block < 8; block += 4) {
      CHECK(order[block] == order[block + 3]);
      CHECK(order[block + 1] == order[block + 2]);
      CHECK(order[block] != order[block + 1]);
    }
    firsts.insert(order.front());
  }
  CHECK(firsts.size() == 2);
  // As many fresh ones as the test needs.
  CHECK(confirmation_rounds_for(1) == 6);  // 1 in 924
  CHECK(confirmation_rounds_for(2) == 8);  // 1 in 12,870
  CHECK(confirmation_rounds_for(32) == 10);
}

TEST_CASE("Nothing changed: the gate passes, and repeats at most a chance suspect", "[gate]") {
  const CheckResult result = check([](Side, int, RunMetrics&) {});
  CHECK(told(result) == "0:");
  CHECK(headline(result) == "PASS: 12 metrics, no regression");
  // Half of what counts is never flagged.
  const auto half = [](RunMetrics& run) { slow_first(run, 12, 0.0045); };
  CHECK(exit_code(check(of_side(Side::head, half))) == ExitCode::ok);
}

TEST_CASE("A pass in paired rounds says what it could have seen, as it decides", "[gate]") {
  for (const double noise : {1e-9, 0.02}) {
    INFO(noise);
    const auto noisy = [=](int round, RunMetrics& run) {
      std::mt19937_64 generator(static_cast<unsigned>(round));
      std::normal_distribution<double> spread(0, noise);
      for (MetricValue& metric : run.metrics) metric.value *= std::exp(spread(generator));
    };
    const CheckResult result = check([&](Side, int round, RunMetrics& run) { noisy(round, run); });
    REQUIRE(exit_code(result) == ExitCode::ok);
    REQUIRE(result.notes.size() == 1);
    CHECK_THAT(result.notes[0], contains("a slowdown below ") && contains("would have passed"));
    std::vector<double> limits;
    for (const MetricDecision& metric : result.metrics)
      limits.push_back(std::expm1(metric.evidence->threshold));
    std::ranges::sort(limits);
    const double half = limits[6];
    CHECK(half < (noise < 0.01 ? 0.0101 : 0.035));
    const auto found = [&](double by) {
      int regressions = 0;
      for (std::size_t metric = 0; metric < 12; ++metric)
        regressions += exit_code(check([&](Side side, int round, RunMetrics& run) {
                         noisy(round, run);
                         slow_head(metric, by)(side, round, run);
                       })) == ExitCode::check_failed;
      return regressions;
    };
    CHECK(found(0.5 * half) <= 1);
    CHECK(found(2 * half) >= 9);
  }
  for (const std::string& note : check(slow_head(4, 0.03)).notes)
    CHECK_THAT(note, !contains("would have passed"));
}

TEST_CASE("A slowdown of 3 % is confirmed in fresh rounds, of a time and of a rate", "[gate]") {
  for (const std::size_t metric : {4, 7}) {
    PlantedRounds rounds(slow_head(metric, 0.03));
    const CheckResult result = check_paired(rounds, {}, {});
    CHECK(told(result) == fmt::format("1 after 6: regression {}", metric));
    const MetricDecision& found = result.metrics[metric];
    CHECK(found.repeated);
    CHECK(std::abs(found.evidence->worse_by - std::log(1.03)) < 0.003);
    CHECK(found.evidence->interval.low < found.evidence->worse_by);
    // The fresh rounds measured the suspect and the controls, not everything.
    CHECK(rounds.asked.front().empty());
    CHECK(rounds.asked.back().size() == 9);
  }
}

TEST_CASE("What no further round can confirm is measured no longer", "[gate]") {
  // Metric 2 was slower at first only, metric 4 is.
  PlantedRounds rounds([](Side side, int round, RunMetrics& run) {
    slow_head(2, 0.05, first_rounds)(side, round, run);
    slow_head(4, 0.03)(side, round, run);
  });
  const CheckResult result = check_paired(rounds, {}, {});
  CHECK_THAT(decision(result, 2).reason, contains("do not confirm"));
  // As two suspects need: 4 of everything and 16; of which the first suspect has one block.
  CHECK(told(result) == "1 after 8: regression 4");
  CHECK(decision(result, 2).head_runs == 2);
  CHECK(decision(result, 4).head_runs == 8);
  REQUIRE(rounds.asked.size() == 20);
  for (const auto& [round, name, asked] :
       {std::tuple(7, "probe/2", 1), {8, "probe/2", 0}, {19, "probe/4", 1}})
    CHECK(std::ranges::count(rounds.asked[round], name) == asked);

  // Nothing else is open: the check ends.
  PlantedRounds one(slow_head(2, 0.05, first_rounds));
  CHECK(check_paired(one, {}, {}).confirmation_rounds == 2);
  CHECK(one.asked.size() == 8);
}

TEST_CASE("A suspect that ranks rule out is settled, however much worse it looks", "[gate]") {
  // Base and head alternate so that the head's median is far worse and its ranks never can be.
  const CheckResult result = check([](Side side, int round, RunMetrics& run) {
    const int nth = (round - 1) / 4;  // block
    if (side == Side::head) slow_down(run.metrics[2], round % 2 == 0 ? 0.2 : nth == 0 ? 0.2 : -0.1);
  });
  CHECK(decision(result, 2).outcome != Outcome::regression);
  CHECK(result.confirmation_rounds < 6);
  // The least p-value to come is that of rounds that are all worse.
  CHECK(least_p_with_more(series_of_times({1.0, 1.1}, {2.0, 2.1}), 4) == smallest_rank_p(6, 6));
  // Two of four pairs the wrong way round.
  CHECK(least_p_with_more(series_of_times({1.0, 2.05}, {2.0, 2.1}), 4) > smallest_rank_p(6, 6));
  CHECK(least_p_with_more(series_of_times({2.0, 2.1}, {1.0, 1.1}), 4) > 0.005);
  // With nothing to come it is the test's own.
  const MetricSeries slower = series_of_times({1.0, 1.1, 1.2}, {1.15, 1.3, 1.4});
  CHECK(least_p_with_more(slower, 0) == evidence_of_rounds(slower).p);
}

TEST_CASE("A clock that moved explains a time, and the gate says from where to where", "[gate]") {
  const auto slower_at = [](double clock_hz, const char* unit) {
    return decision(check([&](Side side, int, RunMetrics& run) {
                      run.metrics[2].unit = unit;
                      if (side != Side::head) return;
                      slow_down(run.metrics[2], 0.05);
                      run.metrics[2].state.sm_clock_hz = clock_hz;
                    }),
                    2);
  };
  const MetricDecision moved = slower_at(1.98e9 / 1.05, "s");
  CHECK(moved.outcome == Outcome::inconclusive);
  CHECK_THAT(moved.reason, contains("the SM clock moved from 1.98 GHz to 1.886 GHz"));
  CHECK(slower_at(1.965e9, "s").outcome == Outcome::regression);  // a small step
  CHECK(slower_at(1.8e9, "cycles").outcome == Outcome::regression);
}

TEST_CASE("A throttle reason excuses no more than the clock can have fallen by", "[gate]") {
  const auto slower_by = [](double share, std::optional<double> clock_hz,
                            std::optional<double> seen_once = {}) {
    return decision(check([&](Side side, int round, RunMetrics& run) {
                      run.metrics[2].state.sm_clock_hz = clock_hz;
                      if (side != Side::head) return;
                      slow_down(run.metrics[2], share);
                      run.metrics[2].state.throttle_reasons = {"sw_power_cap"};
                      if (seen_once && round % 5 == 0) run.metrics[2].state.sm_clock_hz = seen_once;
                    }),
                    2);
  };
  CHECK(slower_by(0.03, 1.98e9).outcome == Outcome::inconclusive);
  CHECK_THAT(slower_by(0.03, 1.98e9).reason, contains("from nothing to sw_power_cap"));
  // At the same clock in all rounds it is not why half of the bandwidth is gone.
  CHECK(slower_by(1, 1.98e9).outcome == Outcome::regression);
  CHECK(slower_by(1, std::nullopt).outcome == Outcome::inconclusive);
  // A clock seen to fall once explains as much.
  CHECK(slower_by(0.15, 1.98e9, 1.98e9 / 1.2).outcome == Outcome::inconclusive);
  CHECK(slower_by(0.4, 1.98e9, 1.98e9 / 1.2).outcome == Outcome::regression);
}

TEST_CASE("Metrics that are missing, failed, new, improved, noisy or under a rule", "[gate]") {
  const CheckResult result = decides(
      [](Side side, int, RunMetrics& run) {
        if (side == Side::base) return run.metrics.pop_back();
        run.metrics[1].problem = "its output was wrong";
        run.metrics.erase(run.metrics.begin() + 3);
      },
      1, Outcome::missing, "its output was wrong.");
  CHECK(told(result) == "4: missing 1 3 added 11");
  CHECK(decision(result, 3).reason == "it is in the baseline and not here.");
  CHECK(decision(result, 11).reason == "the base has no such metric.");

  const auto fail = [](RunMetrics& run) { run.metrics[1].problem = "it failed"; };
  CHECK(told(decides([&](Side, int, RunMetrics& run) { fail(run); }, 1, Outcome::ignored,
                     "neither side has a value: it failed.")) == "0: ignored 1");
  // Where the base's alone failed, it may come and go: new.
  decides(of_side(Side::base, fail), 1, Outcome::added);

  const CheckResult improved = check(slow_head(3, -0.04));
  CHECK(told(improved) == "0 after 6: improved 3");
  CHECK(decision(improved, 3).evidence->worse_by < -0.03);

  std::mt19937_64 generator(9);
  std::normal_distribution<double> noise;
  const CheckResult noisy = check([&](Side side, int, RunMetrics& run) {
    run.metrics[2].value *= std::exp(0.03 * noise(generator));
    if (side == Side::head) slow_down(run.metrics[2], 0.06);
  });
  CHECK(decision(noisy, 2).outcome != Outcome::regression);

  const auto slower = [](RunMetrics& run) { slow_first(run, 5, 0.03); };
  const Rule most{.pattern = "*/?", .ignore = false, .threshold = 0.05, .reason = "known"};
  CHECK(told(decides(of_side(Side::head, slower), 4, Outcome::ignored, "to be removed",
                     {ignoring("probe/4"), most})) == "0 after 8: ignored 4");
}

TEST_CASE("Replays and other machines are refused after the first rounds", "[gate]") {
  PlantedRounds replayed(of_side(Side::head, [](RunMetrics& run) { run.replay = true; }));
  CHECK(exit_code(check_paired(replayed, {}, {})) == ExitCode::inconclusive);
  CHECK(replayed.asked.size() <= 2);
  const auto with_other = [](std::size_t fact) {
    return check(of_side(Side::head, [=](RunMetrics& run) { run.identity[fact].second = "590"; }));
  };
  CHECK(with_other(1).refusals == std::vector<std::string>{"different driver: 580 and 590"});
  // Two toolkits on one machine are what a paired check is for.
  CHECK(exit_code(with_other(2)) == ExitCode::ok);
}

TEST_CASE("A head that fails again after a base that does not lacks all metrics", "[gate]") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {  // either side first
    PlantedRounds rounds(of_side(Side::head, [](RunMetrics&) {
      throw Error(ExitCode::inconclusive, "Round of --head ended with exit status 1.");
    }));
    const CheckResult result = check_paired(rounds, {.seed = seed}, {});
    CHECK(told(result) == "4: missing 0 1 2 3 4 5 6 7 8 9 10 11");
    CHECK_THAT(decision(result, 0).reason, contains("exit status 1"));
    CHECK(result.rounds == 0);  // of the head
  }
}

TEST_CASE("What fails once, or on both sides, or later, decides nothing", "[gate]") {
  bool first = true;
  for (const std::function<bool(Side, int)>&fails : std::vector<std::function<bool(Side, int)>>{
           [&](Side side, int) { return side == Side::head && std::exchange(first, false); },
           [](Side, int) { return true; },
           [](Side side, int round) { return side == Side::head && round > 2; },
           [](Side side, int) { return side == Side::base; }}) {
    CHECK_THROWS_AS(check([&](Side side, int round, RunMetrics&) {
                      if (fails(side, round)) throw Error(ExitCode::inconclusive, "It failed.");
                    }),
                    Error);
  }
}

TEST_CASE("A head is not tried again where that would pass the time limit", "[gate]") {
  struct SlowFailure : PlantedRounds {
    SlowFailure() : PlantedRounds([](Side, int, RunMetrics&) {}) {}
    RunMetrics round(Side side, const std::vector<std::string>& only) override {
      if (side == Side::base) return PlantedRounds::round(side, only);
      failing_s += 100;
      throw Error(ExitCode::inconclusive, "It failed.");
    }
    double elapsed_s() const override { return PlantedRounds::elapsed_s() + failing_s; }
    double failing_s = 0;
  };
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SlowFailure rounds;
    CHECK_THROWS_AS(check_paired(rounds, {.time_limit_s = 150, .seed = seed}, {}), Error);
    CHECK(rounds.failing_s == 100);
  }
}

TEST_CASE("Nothing compared is no pass, and every output says so", "[gate]") {
  const auto clear = [](RunMetrics& run) { run.metrics.clear(); };
  const auto failed = [](Side, int, RunMetrics& run) { fail_all(run); };
  for (const CheckResult& result : {check([&](Side, int, RunMetrics& run) { clear(run); }),
                                    check(failed), check(of_side(Side::base, clear)),  // all new
                                    check(failed, {ignoring("probe/1*")})}) {
    CHECK(exit_code(result) == ExitCode::inconclusive);
    CHECK(headline(result).starts_with("INCONCLUSIVE: nothing was compared"));
    CHECK_THAT(github_annotations(result),
               contains("::warning title=Inconclusive::nothing was compared"));
    CHECK_THAT(junit_xml(result),
               contains("errors=\"1\"") && contains("message=\"nothing was compared"));
    for (const std::string& text :
         {markdown_summary(result), decision_json(result), terminal_table(result)})
      CHECK_THAT(text, contains("nothing was compared"));
  }
  CHECK(exit_code(check(failed, {ignoring("*")})) == ExitCode::ok);  // as the rules want it
}
