// The model validation's campaigns on a GPU, in small.

#include "harness/runner.h"
#include "probes/device/launch.h"
#include "probes/model_validation/kernels.h"
#include "tests/gpu/gpu_fixture.h"

namespace fathom {
Probe make_model_validation();  // CMakeLists.txt gives it this name
}

using namespace fathom;
using namespace fathom::model_validation;

namespace {

struct Campaigns : test::Gpu {
  Runner runner{facts, 1, TimingPolicy{}, {{"patterns", 4000}, {"configurations", 2000}}};
  std::vector<Case> cases = make_model_validation().cases.front()(facts);  // occupancy is the last
  std::span<Case> warp_cases() { return std::span(cases).first(20); }
  Entry run(
      const Case& c, bool counters, const KeepGoing& keep_going = [] { return true; }) {
    Entry entry =
        runner.measure("model_validation/" + c.name, "model_validation", c, counters, keep_going);
    judge_entry(entry);
    return entry;
  }
};

void check_patterns(Campaigns& gpu, bool counters) {
  for (const Case& c : gpu.warp_cases()) {
    const Entry entry = gpu.run(c, counters);
    CAPTURE(entry.name, entry.verdict.reasons);
    CHECK(entry.verdict.status == VerdictStatus::ok);  // wrong_output, if an output were wrong
    CHECK(entry.metric.value == (counters ? std::optional(0.0) : std::nullopt));
    CHECK((counters ? entry.counters.size() == 6 : entry.verdict.unchecked.size() == 1));
    CHECK(entry.extras.at("trials") == 200);
  }
}

}  // namespace

TEST_CASE("random warp patterns cost what the models say", "[gpu][counters][model_validation]") {
  Campaigns gpu;
  REQUIRE(gpu.cases.size() == 21);
  check_patterns(gpu, true);
  CHECK_FALSE(gpu.runner.counter_problem());
  // Ended before its first trial.
  CHECK_FALSE(gpu.run(gpu.warp_cases().front(), true, [] { return false; }).metric.value);
}

TEST_CASE("without counters patterns are still executed and checked, and nothing is compared",
          "[gpu][sanitized][model_validation]") {
  Campaigns gpu;
  check_patterns(gpu, false);
  CHECK(gpu.runner.case_failure() == ExitCode::ok);
}

TEST_CASE("random configurations have the occupancy that the driver says",
          "[gpu][model_validation]") {
  Campaigns gpu;
  const Entry entry = gpu.run(gpu.cases.back(), true);
  CAPTURE(entry.verdict.reasons);
  CHECK(entry.verdict.status == VerdictStatus::ok);
  CHECK(entry.metric.value == 0);
  CHECK(entry.extras.at("trials") == 2000);
  CHECK(entry.extras.at("launchable") > 1000);
}

TEST_CASE("the kernels asked for their occupancy run", "[gpu][sanitized][model_validation]") {
  test::Gpu gpu;
  const auto memory = make_device_memory<unsigned>(1);
  for (const Occupant occupant : occupants) {
    gpu.set(memory.get(), 0, sizeof(unsigned));
    launch(occupant, {1, 1}, gpu.stream.get(), memory.get());
    // What it held are readings of the clock: no sum of them is known, but that there is one.
    CHECK(test::to_host<unsigned>(memory.get(), 1)[0] != 0);
  }
}
