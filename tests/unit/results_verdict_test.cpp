#include "results/verdict.h"

#include "sample_document.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

const double nan_value = std::numeric_limits<double>::quiet_NaN();

/// 100 GB/s, quiet, nothing to find fault with.
Entry quiet_entry(Better better = Better::higher) {
  Entry e;
  e.metric = {"bandwidth", "B/s", better, 100e9};
  e.samples = std::vector<double>(24, 100e9);
  e.interval = Interval{99.9e9, 100.1e9, 0.95, ""};
  e.repeatability = 0.001;
  e.real_time_s = 1e-3;
  e.timing = {"hot", "cudaEvent", 1, 3, 0, "converged", 0.1};
  return e;
}

Verdict judged(Entry e) {
  judge_entry(e);
  const Verdict once = e.verdict;
  judge_entry(e);
  CHECK(e.verdict == once);
  return once;
}

Counter counter(std::optional<double> value, std::optional<double> expected, double tolerance) {
  return {"global_load_sectors",        "x",      "sectors", value,
          value ? "" : "not permitted", expected, tolerance, "size / 32"};
}

}  // namespace

TEST_CASE("An entry with nothing against it is ok, without words", "[results]") {
  Entry e = quiet_entry();
  e.bound = Bound{101e9, "bus"};
  e.expected = Expectation{99e9, 0.02, "model"};
  e.counters = {counter(1024, 1024, 0), counter(5, std::nullopt, 0)};
  CHECK(judged(e) == Verdict{});
  // What was found before is decided anew, once the counters are there; not what the measurement
  // itself found.
  e.verdict = {VerdictStatus::noisy, {"an earlier finding."}, {}};
  CHECK(judged(e) == Verdict{});
  for (const VerdictStatus status : {VerdictStatus::wrong_output, VerdictStatus::failed}) {
    e.verdict = {status, {"element 3 is wrong."}, {}};
    CHECK(judged(e) == Verdict{status, {"element 3 is wrong."}, {}});
  }
}

TEST_CASE("Better than the bound is a fault, by however little", "[results]") {
  for (const auto& [better, best, worse] :
       {std::tuple(Better::higher, 1e300, 50e9), {Better::lower, 0, 200e9}}) {
    Entry e = quiet_entry(better);
    e.bound = Bound{100e9, "bus width x clock"};
    for (const double value : {100e9, worse}) {
      e.metric.value = value;
      CHECK(judged(e).status == VerdictStatus::ok);
    }
    for (const double value : {std::nextafter(100e9, best), nan_value}) {
      e.metric.value = value;
      CHECK(judged(e).status == VerdictStatus::above_bound);
      CHECK_THAT(judged(e).reasons.at(0), contains("bus width x clock"));
    }
  }
}

TEST_CASE("A counter may differ by its relative tolerance, if it has one", "[results]") {
  struct Row {
    double value, expected, tolerance;
    bool good;
  };
  for (const Row& row : std::initializer_list<Row>{{33554432, 33554432, 0, true},
                                                   {33554433, 33554432, 0, false},
                                                   {33554431, 33554432, 0, false},
                                                   {0, 0, 0, true},
                                                   {nan_value, 33554432, 0, false},
                                                   {7, nan_value, 0, false},
                                                   {101, 100, 0.01, true},
                                                   {98.9, 100, 0.01, false},
                                                   {-101, -100, 0.01, true},
                                                   {1e-300, 0, 0.01, false}}) {
    CAPTURE(row.value, row.expected, row.tolerance);
    Entry e = quiet_entry();
    e.counters = {counter(row.value, row.expected, row.tolerance)};
    const Verdict verdict = judged(e);
    CHECK(verdict.status == (row.good ? VerdictStatus::ok : VerdictStatus::counter_mismatch));
    if (row.value == 33554433)
      CHECK_THAT(verdict.reasons.at(0), contains("33,554,433 sectors") &&
                                            contains("33,554,432 sectors") &&
                                            contains("size / 32"));
  }
}

TEST_CASE("What is missing is no fault, and is listed", "[results]") {
  Entry e = quiet_entry();
  e.counters = {counter(std::nullopt, 1024, 0), counter(std::nullopt, std::nullopt, 0)};
  const Verdict verdict = judged(e);
  CHECK(verdict.status == VerdictStatus::ok);
  REQUIRE(verdict.unchecked.size() == 1);
  CHECK_THAT(verdict.unchecked[0], contains("global_load_sectors (not permitted)"));

  e = quiet_entry();
  e.metric.value.reset();
  e.bound = Bound{1, "bus"};
  e.expected = Expectation{1, 0, "model"};
  CHECK(judged(e).unchecked.size() == 2);

  e = quiet_entry();
  e.interval.reset();
  CHECK(judged(e).status == VerdictStatus::ok);
  CHECK(judged(e).unchecked.size() == 1);
}

TEST_CASE("Far from the model is unexpected, with both figures", "[results]") {
  Entry e = quiet_entry();
  e.expected = Expectation{110e9, 0.05, "roofline"};
  const Verdict verdict = judged(e);
  CHECK(verdict.status == VerdictStatus::unexpected);
  CHECK_THAT(verdict.reasons.at(0), contains("100 GB/s") && contains("110 GB/s (roofline)") &&
                                        contains("off by 9.09 %, 5 % allowed"));
  e.expected->tolerance = 0.1;
  CHECK(judged(e).status == VerdictStatus::ok);
  e.metric.value = nan_value;
  CHECK(judged(e).status == VerdictStatus::unexpected);
}

TEST_CASE("Noise is told with its cause", "[results]") {
  Entry wide = quiet_entry();
  wide.interval = Interval{99.7e9, 100.3e9, 0.95, ""};
  CHECK(judged(wide).status == VerdictStatus::noisy);
  CHECK_THAT(judged(wide).reasons.at(0), contains("0.3 % only (0.25 % allowed)") &&
                                             contains("no cause seen in clocks or throttle"));
  Entry unsteady = quiet_entry();
  for (const auto& [repeatability, status] : {std::pair(0.0021, VerdictStatus::noisy),
                                              {0.002, VerdictStatus::ok},
                                              {nan_value, VerdictStatus::noisy}}) {
    unsteady.repeatability = repeatability;
    CHECK(judged(unsteady).status == status);
  }

  wide.telemetry.sm_clock_hz = {1410e6, 1700e6, 1980e6};
  wide.telemetry.throttle_reasons = {"applications_clocks_setting", "sw_power_cap"};
  wide.timing.stop = "time limit";
  wide.real_time_s = 20e-6;
  const std::string reason = judged(wide).reasons.at(0);
  CHECK_THAT(reason, contains("SM clock moved between 1.41 GHz and 1.98 GHz") &&
                         contains("power limit") && contains("time limit with 24 samples") &&
                         contains("timer's resolution") && !contains("applications_clocks"));
  // Twenty launches in one sample are long enough for the timer.
  wide.timing.launches_per_sample = 20;
  CHECK_THAT(judged(wide).reasons.at(0), !contains("resolution"));
}

TEST_CASE("The worst finding wins, and the others are told too", "[results]") {
  Entry e = quiet_entry();
  e.repeatability = 0.1;
  e.expected = Expectation{50e9, 0.1, "model"};
  CHECK(judged(e).status == VerdictStatus::unexpected);
  e.counters = {counter(1, 2, 0)};
  CHECK(judged(e).status == VerdictStatus::counter_mismatch);
  e.bound = Bound{90e9, "bus"};
  const Verdict verdict = judged(e);
  CHECK(verdict.status == VerdictStatus::above_bound);
  CHECK(verdict.reasons.size() == 4);
  CHECK_THAT(verdict.reasons.back(), contains("noisy"));
}

TEST_CASE("Severity orders every status", "[results]") {
  using enum VerdictStatus;
  const VerdictStatus order[] = {ok,          noisy,        unexpected, counter_mismatch,
                                 above_bound, wrong_output, failed};
  CHECK(std::ranges::adjacent_find(order, std::greater_equal(), severity) == std::end(order));
}
