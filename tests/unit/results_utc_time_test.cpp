#include "results/utc_time.h"

#include <catch2/catch_test_macros.hpp>

using namespace fathom;

TEST_CASE("Times are in UTC and to the second", "[results]") {
  const std::chrono::system_clock::time_point time{std::chrono::milliseconds(1'769'860'800'999)};
  CHECK(utc_time(time) == "2026-01-31T12:00:00Z");
  CHECK(utc_time_for_names(time) == "20260131T120000Z");
}
