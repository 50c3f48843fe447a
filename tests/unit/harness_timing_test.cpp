// What timing is made of: the host's clock, the SMs' clock, places that launches take turns in.

#include "harness/host_timer.h"
#include "harness/runner.h"
#include "harness/sm_clock.h"
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
