// Figures, times and words as they are written for people.

#include "results/text.h"

#include "tests/testing.h"

using namespace fathom;

TEST_CASE("Figures have four digits, the prefix of their size, and thousands apart", "[results]") {
  CHECK(format_bytes(768) == "768 B");
  CHECK(format_bytes(1.5 * (1 << 20)) == "1.5 MiB");
  CHECK(format_time(0.0005123) == "512.3 us");
  CHECK(format_time(0) == "0 s");
  CHECK(format_percent(0.0123) == "1.23 %");
  CHECK(format_percent(0.8926) == "89.3 %");
  // What rounds to the next prefix takes it.
  CHECK(format_bandwidth(999.96e9) == "1 TB/s");
  CHECK(format_bandwidth(999.9e9) == "999.9 GB/s");
  CHECK(format_time(0.99999e-3) == "1 ms");
  CHECK(format_number(9.9996) == "10");
  CHECK(format_count(999) == "999");
  CHECK(format_count(-1234567) == "-1,234,567");
  CHECK(format_number(123456) == "123,456");
  CHECK(format_number(1024) == "1024");
  CHECK(format_exact(33554432) == "33,554,432");
  CHECK(format_exact(0.1) == "0.1");
}

TEST_CASE("What is counted has its plural, and none but one is singular", "[results]") {
  CHECK(counted(0, "run") == "0 runs");
  CHECK(counted(1, "entry", "entries") == "1 entry");
  CHECK(counted(2000, "entry", "entries") == "2,000 entries");
}

TEST_CASE("A sentence quotes only printable characters of others, and not too many", "[results]") {
  CHECK(quotable("a\x1b[31m\nb\x7f\xc3\xa9") == "a<U+001B>[31m b<U+007F>\xc3\xa9");
  CHECK(quotable(std::string(100, 'x')) == std::string(100, 'x'));
  CHECK(quotable(std::string(101, 'x')) == std::string(100, 'x') + "...");
  CHECK(quotable("abcdef", 3) == "abc...");
}

TEST_CASE("Quantities follow the document's units", "[results]") {
  for (const auto& [value, unit, text] : {std::tuple{4.28e12, "B/s", "4.28 TB/s"},
                                          {1073741824.0, "B", "1 GiB"},
                                          {1980e6, "Hz", "1.98 GHz"},
                                          {66.9e12, "FLOP/s", "66.9 TFLOP/s"},
                                          {31.25e-12, "J/B", "31.25 pJ/B"},
                                          {0.43e-12, "J/FLOP", "0.43 pJ/FLOP"},
                                          {1.5e-9, "J/op", "1.5 nJ/op"},
                                          {0.5e-12, "s", "0.0005 ns"},
                                          {455.25, "W", "455.2 W"},
                                          {44.0, "C", "44 °C"},
                                          {37.6, "%", "37.6 %"},
                                          {2.0126, "cycles", "2.013 cycles"},
                                          {33554432.0, "sectors", "33,554,432 sectors"},
                                          {2.0, "", "2"}})
    CHECK(format_quantity(value, unit) == text);
  CHECK(format_quantity(std::nullopt, "B/s") == "-");
}

TEST_CASE("Axis values read as in the probe's own names", "[results]") {
  CHECK(format_axis_value("type", std::string("float4")) == "float4");
  CHECK(format_axis_value("share", 0.5) == "0.5");
  CHECK(format_axis_value("size", std::int64_t{1} << 30) == "1 GiB");
  CHECK(format_axis_value("tile_bytes", std::int64_t{2048}) == "2 KiB");
  CHECK(format_axis_value("size", std::string("all")) == "all");
  CHECK(format_axis_value("block_size", std::int64_t{256}) == "256");
}

TEST_CASE("No figure is shown as nan or inf", "[results]") {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const char* unit : {"B", "B/s", "s", "%", "cycles", ""})
      CHECK(format_quantity(bad, unit) == "not finite");
    CHECK(format_percent(bad) == "not finite");
    CHECK(format_count(bad) == "not finite");
    CHECK(format_exact(bad) == "not finite");
  }
}

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

TEST_CASE("A misspelt word, or a part of it, finds the one that was meant", "[results]") {
  const std::vector<std::string> probes{"bank_conflicts", "copy_bandwidth", "occupancy",
                                        "tail_effect", "warp_reduce"};
  CHECK(closest_match("copy_bandwith", probes) == "copy_bandwidth");
  CHECK(closest_match("tail-effect", probes) == "tail_effect");
  CHECK(closest_match("rnu", {"run", "list", "report"}) == "run");
  CHECK(closest_match("reduce", probes) == "warp_reduce");
  // A word like no other finds nothing.
  CHECK_FALSE(closest_match("xyzzy", probes));
  CHECK_FALSE(closest_match("", probes));
  CHECK_FALSE(closest_match("--bogus", {"--out", "--suite"}));  // dashes are no likeness
  CHECK(did_you_mean("xyzzy", probes).empty());
  CHECK(did_you_mean("ocupancy", probes) == " Did you mean `occupancy`?");
}
