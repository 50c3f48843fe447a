#include "probes/launch_overhead/kernels.h"
#include "tests/testing.h"

using namespace fathom::launch_overhead;

TEST_CASE("stamps of kernels in a row must follow each other", "[probes][launch_overhead]") {
  const auto wrong = [](const Stamps& stamps) { return check(stamps).value_or(""); };
  CHECK(wrong({5, 7}) == "");
  // Two kernels wrote these, so both are said.
  CHECK(wrong({7, 5}) == "the last stamp, 5 ns, is not after the first, 7 ns");
  CHECK(wrong({0, 5}) == "the last stamp, 5 ns, is not after the first, 0 ns");
  CHECK(wrong({5, 7, 7, 9}) == "");
  CHECK(wrong({5, 7, 9, 9}) == "kernel 1 reported no times");
  CHECK(wrong({5, 7, 4, 9}) ==
        "kernel 1 began its work 3 ns before the one it depends on was done");
}
