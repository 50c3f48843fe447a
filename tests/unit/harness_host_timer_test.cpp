#include <thread>

#include "harness/host_timer.h"
#include "tests/testing.h"

using namespace fathom;

TEST_CASE("the host's timer holds what the work took", "[harness]") {
  constexpr double slept = 0.02;
  const double seconds =
      host_seconds([&] { std::this_thread::sleep_for(std::chrono::duration<double>(slept)); });
  CHECK(seconds >= slept);
  CHECK(seconds < slept + 2);  // a busy machine
  CHECK(host_seconds([] {}) < seconds);
}

TEST_CASE("waiting ends with the answer, or with an error where none comes", "[harness]") {
  int asked = 0;
  spin_until([&] { return ++asked == 1000; }, 10);
  CHECK(asked == 1000);
  const double seconds =
      host_seconds([] { CHECK_THROWS_AS(spin_until([] { return false; }, 0.01), Error); });
  CHECK(seconds >= 0.01);
}
