#include "tests/testing.h"
#include "tools/progress.h"

namespace fathom {
namespace {

TEST_CASE("A progress line has four parts, the last with any characters", "[tools]") {
  const auto progress = parse_progress("3 12 4.5 copy_bandwidth/type:float4/size:1 GiB");
  REQUIRE(progress);
  CHECK(progress->done == 3);
  CHECK(progress->total == 12);
  CHECK(progress->elapsed_s == 4.5);
  CHECK(progress->name == "copy_bandwidth/type:float4/size:1 GiB");
  for (const char* line : {"", "three 12 4.5 name", "3 12", "-1 12 0.5 name"})
    CHECK_FALSE(parse_progress(line));
}

TEST_CASE("Durations are spoken in at most two units", "[tools]") {
  CHECK(spoken_duration(-1) == "0 s");
  CHECK(spoken_duration(44.6) == "45 s");
  CHECK(spoken_duration(125) == "2 min 5 s");
  CHECK(spoken_duration(3725) == "1 h 2 min");
}

TEST_CASE("The rest of a run goes as fast as what is done", "[tools]") {
  CHECK_FALSE(seconds_left(1, 0, 3, {0, 10, 1, ""}));  // no case is done, so nothing is known
  CHECK(seconds_left(6, 0, 3, {5, 10, 6, ""}).value() == Approx(30));  // half a probe of three
  CHECK(seconds_left(20, 2, 3, {}).value() == Approx(10));
  CHECK(seconds_left(25, 2, 3, {4, 8, 5, ""}).value() == Approx(5));
}

}  // namespace
}  // namespace fathom
