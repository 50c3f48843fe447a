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

TEST_CASE("Time left: the rest of this probe, and as much for each later one", "[tools]") {
  TimeLeft left(3);
  left.start_probe(0, 0);
  CHECK_FALSE(left.seconds(0.5));
  left.update({0, 10, 1, ""});
  CHECK_FALSE(left.seconds(1));  // no case is done, so nothing is known
  left.update({5, 10, 6, ""});   // one second per case: five left, and 11 for each of two probes
  CHECK(left.seconds(6).value() == Approx(5 + 2 * 11));
  left.start_probe(2, 20);  // the last one: nothing known of it, and nothing comes after it
  left.update({0, 4, 0, ""});
  left.update({1, 4, 2, ""});
  CHECK(left.seconds(22).value() == Approx(6));
}

TEST_CASE("Time left: a second pass for the counters starts a new count", "[tools]") {
  TimeLeft left(1);
  left.start_probe(0, 0);
  left.update({0, 10, 0, "case"});
  left.update({9, 10, 9, "case"});
  left.update({0, 8, 10, "counters"});
  left.update({4, 8, 10.4, "counters"});
  CHECK(left.seconds(10.4).value() == Approx(0.4));
}

}  // namespace
}  // namespace fathom
