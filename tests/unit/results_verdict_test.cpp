#include "sample_document.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

const double nan_value = std::numeric_limits<double>::quiet_NaN();

/// 100 GB/s, quiet, nothing to find fault with.
Entry quiet_entry() {
  Entry e;
  e.metric = {"bandwidth", "B/s", Better::higher, 100e9};
  e.samples = std::vector<double>(24, 100e9);
  e.interval = Interval{99.9e9, 100.1e9, 0.95, ""};
  e.repeatability = 0.001;
  e.real_time_s = 1e-3;
  e.timing = {"hot", "cudaEvent", 1, 3, 0, "converged", 0.1};
  return e;
}

Counter counter(std::optional<double> value, std::optional<double> expected, double tolerance) {
  return {"global_load_sectors",        "x",      "sectors", value,
          value ? "" : "not permitted", expected, tolerance, "size / 32"};
}

}  // namespace

TEST_CASE("An entry's verdict is its worst finding, and all are told with their figures",
          "[results]") {
  std::string all;
  const auto add = [&](const std::string& what, auto change) {
    Entry e = quiet_entry();
    change(e);
    judge_entry(e);
    const Verdict verdict = e.verdict;
    judge_entry(e);
    CHECK(e.verdict == verdict);
    all += fmt::format("{}: {}\n", what, to_string(verdict.status));
    for (const std::string& reason : verdict.reasons) all += "  " + reason + "\n";
    for (const std::string& missing : verdict.unchecked) all += "  unchecked: " + missing + "\n";
  };
  add("nothing against it", [](Entry& e) {
    e.bound = Bound{101e9, "bus"};
    e.expected = Expectation{99e9, 0.02, "model"};
    e.counters = {counter(1024, 1024, 0), counter(5, std::nullopt, 0)};
  });
  // Once the counters are there all is decided anew, but for what the measurement itself found.
  using enum VerdictStatus;
  for (const VerdictStatus before : {noisy, wrong_output, failed})
    add("found before", [&](Entry& e) { e.verdict = {before, {"element 3 is wrong."}, {}}; });

  for (const auto& [better, best, worse] :
       {std::tuple(Better::higher, 1e300, 50e9), {Better::lower, 0, 200e9}})
    for (const double value : {100e9, worse, std::nextafter(100e9, best), nan_value})
      add(fmt::format("{:.17g} of a bound of 100e9 that is {}", value,
                      better == Better::higher ? "the highest" : "the lowest"),
          [&](Entry& e) {
            e.metric.better = better;
            e.metric.value = value;
            e.bound = Bound{100e9, "bus width x clock"};
          });

  for (const auto& [value, expected, tolerance] :
       std::initializer_list<std::tuple<double, double, double>>{{33554432, 33554432, 0},
                                                                 {33554433, 33554432, 0},
                                                                 {33554431, 33554432, 0},
                                                                 {0, 0, 0},
                                                                 {nan_value, 33554432, 0},
                                                                 {7, nan_value, 0},
                                                                 {101, 100, 0.01},
                                                                 {98.9, 100, 0.01},
                                                                 {-101, -100, 0.01},
                                                                 {1e-300, 0, 0.01}})
    add("a counter", [&](Entry& e) { e.counters = {counter(value, expected, tolerance)}; });

  add("counters that are missing", [](Entry& e) {
    e.counters = {counter(std::nullopt, 1024, 0), counter(std::nullopt, std::nullopt, 0)};
  });
  add("no figure", [](Entry& e) {
    e.metric.value.reset();
    e.bound = Bound{1, "bus"};
    e.expected = Expectation{1, 0, "model"};
  });
  add("no interval", [](Entry& e) { e.interval.reset(); });

  for (const double value : {100e9, nan_value})
    for (const double tolerance : {0.05, 0.1})
      add("far from its model", [&](Entry& e) {
        e.metric.value = value;
        e.expected = Expectation{110e9, tolerance, "roofline"};
      });

  const auto widen = [](Entry& e) { e.interval = Interval{99.7e9, 100.3e9, 0.95, ""}; };
  add("a wide interval", widen);
  for (const double repeatability : {0.0021, 0.002, nan_value})
    add(fmt::format("rounds {} apart", repeatability),
        [&](Entry& e) { e.repeatability = repeatability; });
  for (const int launches : {1, 20})  // together long enough for the timer
    add(fmt::format("a short kernel, {} a sample, whose clock moved", launches), [&](Entry& e) {
      widen(e);
      e.telemetry.sm_clock_hz = {1410e6, 1700e6, 1980e6};
      e.telemetry.throttle_reasons = {"applications_clocks_setting", "sw_power_cap"};
      e.timing.stop = "time limit";
      e.timing.launches_per_sample = launches;
      e.real_time_s = 20e-6;
    });

  // The worst comes first.
  Entry several = quiet_entry();
  const auto add_finding = [&](auto change) {
    change(several);
    add("several findings", [&](Entry& e) { e = several; });
  };
  add_finding([](Entry& e) { e.repeatability = 0.1; });
  add_finding([](Entry& e) { e.expected = Expectation{50e9, 0.1, "model"}; });
  add_finding([](Entry& e) { e.counters = {counter(1, 2, 0)}; });
  add_finding([](Entry& e) { e.bound = Bound{90e9, "bus"}; });
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/verdicts.txt", all);
}
