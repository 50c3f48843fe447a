#include "harness/runner.h"
#include "tests/testing.h"

using namespace fathom;

TEST_CASE("small work has as many places as a quarter of the L2 holds", "[harness]") {
  constexpr std::size_t l2 = std::size_t{50} << 20;
  CHECK(places_in_a_round(1 << 10, l2) == 32);
  CHECK(places_in_a_round(1 << 20, l2) == 12);
  CHECK(places_in_a_round(2 << 20, l2) == 6);
  CHECK(places_in_a_round(16 << 20, l2) == 1);
  CHECK(places_in_a_round(0, l2) == 1);
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
