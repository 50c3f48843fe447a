#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// Another load that takes part of the GPU: it slows a third of the metrics, each by its own share
/// of `by`, and the others not at all.
void load_beside(RunMetrics& run, double by) {
  for (std::size_t i = 0; i < run.metrics.size() / 3; ++i)
    slow_down(run.metrics[i], by * (1 + 0.1 * static_cast<double>(i % 5)));
}

/// How 100 checks of equal sides end, beside a load that `add` starts.
struct Ends {
  int inconclusive = 0, regressions = 0;
};
Ends ends_of_100(const PlantedRounds::Change& add, bool replace_disturbed = false) {
  Ends ends;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PlantedRounds rounds(add, seed);
    const CheckResult result =
        check_paired(rounds, {.seed = seed, .replace_disturbed = replace_disturbed}, {});
    ends.inconclusive += exit_code(result) == ExitCode::inconclusive;
    ends.regressions += exit_code(result) == ExitCode::check_failed;
  }
  return ends;
}

}  // namespace

TEST_CASE("Another load ends as inconclusive, and hardly ever as a regression", "[gate]") {
  // A chance suspect is worse at first only, so that there are fresh rounds: without a load four.
  const auto nothing = slow_head(0, 0), suspect = slow_head(0, 0.02, first_rounds),
             slower = slow_head(0, 0.03);
  struct Scenario {
    std::string name;
    PlantedRounds::Change change;
    int from, to;                 ///< the rounds that are loaded,
    std::optional<Side> of = {};  ///< of this side alone
    int most_regressions = 0;
  };
  constexpr int last = 1 << 20;
  std::vector<Scenario> scenarios{
      // Where by chance only one of the controls feels it, nothing tells it from a regression.
      {"beside all fresh ones of the head", suspect, first_rounds + 1, last, Side::head, 2},
      // Nor does a load that hides a regression in the fresh rounds let it pass.
      {"beside all fresh ones of the base", slower, first_rounds + 1, last, Side::base, 5}};
  for (int round = 1; round <= first_rounds; ++round) {
    scenarios.push_back({"beside one of the first", nothing, round, round});
    if (round > 1)  // from the first on all would be alike
      scenarios.push_back({"from one of the first on", nothing, round, last});
  }
  for (const int round : {5, 6, 8})
    scenarios.push_back({"beside one of the fresh ones", suspect, round, round});
  for (const int round : {9, 16})
    scenarios.push_back({"beside a late one, of what is slower", slower, round, round, {}, 5});
  for (const Scenario& scenario : scenarios) {
    CAPTURE(scenario.name, scenario.from);
    const Ends ends = ends_of_100([&](Side side, int round, RunMetrics& run) {
      scenario.change(side, round, run);
      if (round >= scenario.from && round <= scenario.to && side == scenario.of.value_or(side))
        load_beside(run, 0.05);
    });
    CHECK(ends.inconclusive >= 95);
    CHECK(ends.regressions <= scenario.most_regressions);
  }
}

TEST_CASE("Another process beside the head alone is a disturbance, however even", "[gate]") {
  // Beside every round of the head, all metrics slower alike: only the GPU's list of processes
  // tells this from a regression of everything.
  const auto slower_beside = [](double of_base, double of_head) {
    return [=](Side side, int, RunMetrics& run) {
      run.other_processes = side == Side::head ? of_head : of_base;
      if (side == Side::head) slow_first(run, 12, 0.05);
    };
  };
  CHECK(ends_of_100(slower_beside(0, 1)).inconclusive == 100);
  const CheckResult one = check(slower_beside(0, 1));
  CHECK(told(one) == "3: inconclusive 0 1 2 3 4 5 6 7 8 9 10 11");
  CHECK_THAT(headline(one), contains("another process used the GPU during 2 of 4 rounds"));
  // One that is there all the time is no reason: a regression stays one, and nothing stays nothing.
  CHECK(ends_of_100(slower_beside(1, 1)).regressions == 100);
  CHECK(told(check([&](Side, int, RunMetrics& run) { run.other_processes = 1; })) == "0:");
  // Nor is a round that does not know.
  const auto no_others = [](RunMetrics& run) { run.other_processes = 0; };
  CHECK(told(check(of_side(Side::head, no_others))) == "0:");
}

TEST_CASE("Another process with the fresh rounds, and rounds at odds with themselves", "[gate]") {
  const CheckResult result = decides(
      [](Side side, int round, RunMetrics& run) {
        run.other_processes = round > first_rounds ? 1 : 0;
        if (side == Side::head) slow_down(run.metrics[0], 0.05);
      },
      0, Outcome::inconclusive, "another process used the GPU during 12 of 12 rounds");
  CHECK(told(result) == "3 after 6: inconclusive 0");
  // A load beside all rounds of both sides: they agree, but inside each it comes and goes.
  const auto with = [](double unsteadiness) {
    return check([=](Side, int, RunMetrics& run) { run.unsteadiness = unsteadiness; });
  };
  CHECK(exit_code(with(0.03)) == ExitCode::inconclusive);
  CHECK_THAT(headline(with(0.03)), contains("what one process measured several times"));
  CHECK(exit_code(with(0.002)) == ExitCode::ok);
}

TEST_CASE("Disturbed rounds are measured anew while there is time", "[gate]") {
  const auto disturb = [](Side, int round, RunMetrics& run) {
    if (round == 2) load_beside(run, 0.1);
  };
  PlantedRounds stopped(disturb), replaced(disturb);
  CHECK(exit_code(check_paired(stopped, {.replace_disturbed = false}, {})) ==
        ExitCode::inconclusive);
  CHECK(stopped.asked.size() == first_rounds);
  const CheckResult result = check_paired(replaced, {}, {});
  CHECK(exit_code(result) == ExitCode::ok);
  CHECK(replaced.asked.size() >= 2 * first_rounds);
  CHECK(result.rounds == 2);
  // What is slower is found after a load that ends.
  const Ends ends = ends_of_100(
      [](Side side, int round, RunMetrics& run) {
        if (side == Side::head) slow_down(run.metrics[0], 0.03);
        if (round == 2 || round == 12) load_beside(run, 0.05);
      },
      true);
  CHECK(ends.regressions >= 95);
  // One that does not end leaves nothing decided, and the time is kept.
  PlantedRounds always([](Side, int round, RunMetrics& run) {
    if (round % 2 == 0) load_beside(run, 0.1);
  });
  const CheckResult never = check_paired(always, {}, {});
  CHECK(exit_code(never) == ExitCode::inconclusive);
  CHECK(never.elapsed_s <= PairedOptions{}.time_limit_s);
}

TEST_CASE("Noise that is always there is no disturbance, and 5 % is found in it", "[gate]") {
  const auto noisy = [](double slower) {
    return [slower, generator = std::mt19937_64(3)](Side side, int, RunMetrics& run) mutable {
      std::normal_distribution<double> noise(0, 0.02);
      for (MetricValue& metric : run.metrics) metric.value *= std::exp(noise(generator));
      if (side == Side::head) slow_down(run.metrics[4], slower);
    };
  };
  const Ends equal = ends_of_100(noisy(0), true), slower = ends_of_100(noisy(0.05), true);
  CHECK(equal.regressions == 0);
  CHECK(equal.inconclusive <= 2);
  CHECK(slower.regressions >= 75);
}
