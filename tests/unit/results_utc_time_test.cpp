#include "results/utc_time.h"
#include "tests/testing.h"

using namespace fathom;

TEST_CASE("Times are in UTC and to the second", "[results]") {
  const std::chrono::system_clock::time_point time{std::chrono::milliseconds(1'769'860'800'999)};
  CHECK(utc_time(time) == "2026-01-31T12:00:00Z");
  CHECK(utc_time_for_names(time) == "20260131T120000Z");
  CHECK(parse_utc_time("2026-01-31T12:00:00Z") == std::chrono::floor<std::chrono::seconds>(time));
}

TEST_CASE("A text that is no time, or a time that no clock shows, is none", "[results]") {
  for (const char* text : {"", "2026-13-45T99:99:99Z", "2026-02-29T00:00:00Z",
                           "2026-01-31T24:00:00Z", "2026-01-31T12:00:60Z", "2026-01-31T12:00:00",
                           "2026-01-31 12:00:00Z", "2026-01-31T12:00:00Z ", "2026-1-31T12:00:00Z0",
                           "-026-01-31T12:00:00Z", "2026-01-31T12:00:0:Z", "yesterday",
                           "1970-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "9999-01-01T00:00:00Z"})
    CHECK_FALSE(parse_utc_time(text));
  for (const char* text : {"2028-02-29T23:59:59Z", "1971-01-01T00:00:00Z", "2200-12-31T23:59:59Z"})
    CHECK(parse_utc_time(text));
}
