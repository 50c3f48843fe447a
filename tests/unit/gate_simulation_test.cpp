#include "studies/gate/simulation.h"
#include "tests/testing.h"
#include "tests/unit/planted_rounds.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

RecordedNoise noise_of_rounds(double round_s) {
  PlantedRounds source([&](Side, int, RunMetrics& run) { run.elapsed_s = round_s; });
  std::vector<RunMetrics> rounds;
  for (int round = 0; round < 4; ++round) rounds.push_back(source.round(Side::base, {}));
  return RecordedNoise(rounds);
}

}  // namespace

TEST_CASE("Simulated rounds take the seconds of recorded ones", "[gate]") {
  const RecordedNoise noise = noise_of_rounds(15);  // of which 12 metrics have 0.1 s each
  CHECK(*noise.seconds_of({}) == 15);
  CHECK(*noise.seconds_of({"probe/1", "probe/2"}) == Approx(2 + 13 * 2.0 / 12));
  CHECK(*noise_of_rounds(1).seconds_of({"probe/1"}) == 1);
  CHECK_FALSE(noise_of_rounds(0).seconds_of({}));  // a recording that does not say
}

TEST_CASE("In a simulation the time limit acts as in a check", "[gate]") {
  const auto inconclusive = [](double round_s) {
    PlantedRounds source([&](Side, int round, RunMetrics& run) {
      run.elapsed_s = round_s;
      for (std::size_t i = 0; i < run.metrics.size(); ++i)
        slow_down(run.metrics[i], (round + static_cast<int>(i)) % 4 == 0 ? 0.04 : 0);
    });
    std::vector<RunMetrics> rounds;
    for (int round = 0; round < 8; ++round) rounds.push_back(source.round(Side::base, {}));
    const RecordedNoise noise(rounds);
    return simulate_false_alarms(paired_decisions(noise), 40, 1).inconclusive.hits;
  };
  // What does not fit in is inconclusive.
  CHECK(inconclusive(60) > inconclusive(1));
}
