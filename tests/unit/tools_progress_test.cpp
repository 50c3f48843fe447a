#include "tests/testing.h"
#include "tools/progress.h"

namespace fathom {
namespace {

TEST_CASE("A progress line has four parts, the last with any characters", "[tools]") {
  const auto progress = parse_progress("3 12 4.5 copy_bandwidth/type:float4/size:1 GiB");
  REQUIRE(progress);
  CHECK(progress->done == 3);
  CHECK(progress->total == 12);
  CHECK(progress->name == "copy_bandwidth/type:float4/size:1 GiB");
  for (const char* line : {"", "three 12 4.5 name", "3 12"}) CHECK_FALSE(parse_progress(line));
}

TEST_CASE("Durations are spoken in at most two units", "[tools]") {
  CHECK(spoken_duration(-1) == "0 s");
  CHECK(spoken_duration(44.6) == "45 s");
  CHECK(spoken_duration(125) == "2 min 5 s");
  CHECK(spoken_duration(3725) == "1 h 2 min");
}

}  // namespace
}  // namespace fathom
