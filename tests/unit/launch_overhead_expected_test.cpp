#include "probes/launch_overhead/kernels.h"
#include "tests/testing.h"

using namespace fathom::launch_overhead;

TEST_CASE("stamps of kernels in a row must follow each other", "[probes][launch_overhead]") {
  const auto wrong = [](const Stamps& stamps) { return check(stamps).value_or(""); };
  CHECK(wrong({5, 7}) == "");
  CHECK(wrong({5, 7, 7, 9}) == "");
  CHECK(wrong({7, 5}) == "stamp 1 is 5 ns, and the one before it 7 ns");
  CHECK(wrong({0, 5}) == "stamp 0 is 0 ns, and the one before it 0 ns");
  CHECK(wrong({5, 7, 9, 9}) == "stamp 3 is 9 ns, and the one before it 9 ns");
  CHECK(wrong({5, 7, 4, 9}) == "stamp 2 is 4 ns, and the one before it 7 ns");
}
