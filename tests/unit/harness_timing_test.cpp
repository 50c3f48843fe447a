// What timing is made of: the host's clock, the SMs' clock, places that launches take turns in; and
// the energy of turns.

#include "harness/energy.h"
#include "harness/host_timer.h"
#include "harness/runner.h"
#include "harness/timing.h"
#include "tests/testing.h"

using namespace fathom;

TEST_CASE("waiting ends with the answer, or with an error where none comes", "[harness]") {
  int asked = 0;
  spin_until([&] { return ++asked == 1000; }, 10);
  CHECK(asked == 1000);
  const double seconds =
      host_seconds([] { CHECK_THROWS_AS(spin_until([] { return false; }, 0.01), Error); });
  CHECK(seconds >= 0.01);
  CHECK(seconds < 2);  // on a busy machine
}

TEST_CASE("the clock is the mean of the SMs that both stamps met", "[harness]") {
  // One millisecond at 1.5 GHz and at 1.4 GHz, by counters that began at different times.
  const std::vector<SmStamp> before{
      {1000, 5'000'000}, {0, 0}, {7'000'000'000, 5'000'100}, {50, 5'000'000}};
  const std::vector<SmStamp> after{
      {1'501'000, 6'000'000}, {900, 6'000'000}, {7'001'400'000, 6'000'100}, {0, 0}};
  const auto hertz = clock_between(before, after);
  REQUIRE(hertz.has_value());
  CHECK(*hertz == Approx(1.45e9));
}

TEST_CASE("stamps that are too near, that do not meet or that go back have no clock", "[harness]") {
  const std::vector<SmStamp> before{{1000, 5'000'000}, {0, 0}};
  CHECK(clock_between(before, std::vector<SmStamp>{{91'000, 5'060'000}, {}}) == Approx(1.5e9));
  for (const std::vector<SmStamp>& after : {std::vector<SmStamp>{{61'000, 5'040'000}, {}},
                                            {{}, {91'000, 5'060'000}},
                                            {{500, 5'060'000}, {}},  // the counter began anew
                                            {{91'000, 4'000'000}, {}}})
    CHECK_FALSE(clock_between(before, after).has_value());
}

TEST_CASE("small work has as many places as a quarter of the L2 holds", "[harness]") {
  constexpr std::size_t l2 = std::size_t{50} << 20;
  for (const auto& [bytes, places] :
       {std::pair{1 << 10, 32}, {1 << 20, 12}, {2 << 20, 6}, {16 << 20, 1}, {0, 1}})
    CHECK(places_in_a_round(bytes, l2) == places);
  CHECK(places_in_a_round(1 << 10, 0) == 1);
}

TEST_CASE("each launch is of another place, and all else is the last one's", "[harness]") {
  std::string launched;
  std::vector<Workload> places;
  for (const char place : {'a', 'b', 'c'}) {
    Workload workload;
    workload.launch = [&launched, place] { launched += place; };
    workload.verify = [place] { return std::string(1, place); };
    places.push_back(workload);
  }
  const Workload all = taking_turns(places);
  for (int i = 0; i < 7; ++i) all.launch();
  CHECK(launched == "abcabca");
  CHECK(all.verify() == "c");
  // A copy goes on where the other stopped: the harness hands them around.
  const Workload copy = all;
  copy.launch();
  CHECK(launched == "abcabcab");
  CHECK_THROWS_AS(taking_turns({}), std::invalid_argument);
}

namespace {

/// A counter that moves every 0.1 s at `watts`, from `first` on.
std::vector<EnergyStep> steps(double first, int count, double watts) {
  std::vector<EnergyStep> result;
  for (int i = 0; i < count; ++i) result.push_back({first + 0.1 * i, 1000 + watts * 0.1 * i});
  return result;
}

}  // namespace

TEST_CASE("windows go from step to step and share out the work evenly", "[harness][energy]") {
  // 700 W, and 5000 launches a second in batches that end at odd times. Up to 0.25 s the counter
  // tells of something else.
  auto counter = steps(0.05, 14, 700);
  for (int i = 0; i < 3; ++i) counter[i].joules -= 5000;
  std::vector<WorkMark> marks;
  for (int i = 0; i <= 400; ++i) marks.push_back({0.01 + 0.0037 * i, 5000 * 0.0037 * i});
  for (const std::size_t most : {4, 100}) {
    const auto windows = energy_windows(counter, marks, 0.3, most);
    // From the first step after 0.3 s, at 0.35 s, to the last one, at 1.35 s.
    REQUIRE(windows.size() == std::min<std::size_t>(most, 10));
    for (const EnergyReading& window : windows) {
      CHECK(window.watts() == Approx(700));
      CHECK(window.work / window.seconds == Approx(5000));
      CHECK(window.seconds >= (most == 4 ? 0.2 : 0.1) - 1e-9);
    }
    const EnergyReading whole = total(windows);
    CHECK(whole.seconds == Approx(1.0));
    CHECK(whole.joules == Approx(700));
    CHECK(whole.work == Approx(5000));
  }
  // Work is counted where it was done.
  const std::vector<WorkMark> slower{{0, 0}, {0.5, 1000}, {1.0, 1500}};
  const auto halves = energy_windows(steps(0, 11, 500), slower, 0, 2);
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].work == Approx(1000));
  CHECK(halves[1].work == Approx(500));
}

TEST_CASE("a GPU at rest has power and no work, one step is no window", "[harness][energy]") {
  const auto windows = energy_windows(steps(1.0, 3, 80), {}, 1.0, 4);
  REQUIRE(windows.size() == 2);
  CHECK(total(windows).watts() == Approx(80));
  CHECK(total(windows).work == 0);
  CHECK(energy_windows(steps(0.5, 1, 100), {}, 0, 4).empty());
  CHECK(energy_windows({}, {}, 0, 4).empty());
  CHECK(energy_windows(steps(0.1, 5, 100), {}, 0.45, 4).empty());
}

TEST_CASE("turns go there and back", "[harness][energy]") {
  CHECK(turn_order(3, 3) == std::vector<std::size_t>{0, 1, 2, 2, 1, 0, 0, 1, 2});
}

TEST_CASE("joules of a workload are of all that its turns counted", "[harness][energy]") {
  const auto turn = [](double joules, double work) {
    return SustainedTurn{1e-3, EnergyReading{joules, 0.3, work}, std::nullopt};
  };
  // 0.7 J a launch, once 0.77 and once 0.63, in turns of unlike length.
  std::vector<SustainedTurn> turns{turn(210, 300), turn(231, 300), turn(140, 200),
                                   turn(126, 200), turn(210, 300), turn(140, 200)};
  turns.insert(turns.begin() + 2, SustainedTurn{});  // no step of the counter in it
  const auto energy = energy_of(turns);
  REQUIRE(energy.has_value());
  CHECK(energy->joules == Approx(1057.0 / 1500));
  CHECK(energy->half_width == Approx(0.07 / (1057.0 / 1500)));  // of six: all of them
  CHECK_FALSE(energy_of(std::vector<SustainedTurn>(3)).has_value());
}

TEST_CASE("a turn's energy is of its own steps", "[harness][energy]") {
  // One watch for all turns: 400 W until 1 s, 700 W then, and the counter tells it 50 ms late.
  std::vector<EnergyStep> counter;
  for (int i = 0; i <= 21; ++i) {
    const double s = 0.1 * i, known = s - 0.05;
    counter.push_back({s, 400 * std::min(known, 1.0) + 700 * std::max(known - 1, 0.0)});
  }
  const std::vector<WorkMark> marks{{1.0, 0}, {1.54, 540}};
  const auto windows = energy_windows(counter, marks, 1.15, 1);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].watts() == Approx(700));
  CHECK(windows[0].seconds == Approx(0.3));
  CHECK(windows[0].work == Approx(300));
}
