#include "harness/host_timer.h"
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
