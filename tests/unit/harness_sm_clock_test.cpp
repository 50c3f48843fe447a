#include "harness/sm_clock.h"
#include "tests/testing.h"

using namespace fathom;

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
  const auto hertz = [&](SmStamp first, SmStamp second) {
    return clock_between(before, std::vector{first, second});
  };
  CHECK(hertz({91'000, 5'060'000}, {}) == Approx(1.5e9));
  CHECK_FALSE(hertz({61'000, 5'040'000}, {}).has_value());
  CHECK_FALSE(hertz({}, {91'000, 5'060'000}).has_value());
  CHECK_FALSE(hertz({500, 5'060'000}, {}).has_value());  // the counter began anew
  CHECK_FALSE(hertz({91'000, 4'000'000}, {}).has_value());
  CHECK_FALSE(clock_between({}, {}).has_value());
}
