#include "harness/runner.h"
#include "tests/gpu/gpu_fixture.h"

namespace fathom {
Probe make_energy();  // CMakeLists.txt gives it this name
}

using namespace fathom;

// Needs the energy counter, which every GPU since Volta has outside of a virtual machine.
TEST_CASE("a case is measured by its energy", "[gpu][energy]") {
  if (test::under_sanitizer()) SKIP("no time is what it is under the sanitizer");
  test::Gpu gpu;
  if (!TelemetrySampler(gpu.facts.pci_bus_id).energy_j()) SKIP("this GPU has no energy counter");
  Runner runner(gpu.facts, 1, TimingPolicy{});
  Case c;
  c.name = "rest";
  c.metric = {"energy", "J/op", Better::lower, std::nullopt};
  auto& loop = c.mode.emplace<EnergyLoop>();
  loop.work = 10;
  double seen = 0;
  loop.figures = [&](const EnergyReading& whole) -> std::map<std::string, double> {
    seen = whole.joules / whole.work;
    return {{"seen", seen}};
  };
  const std::vector<Case> cases = make_energy().cases.front()(gpu.facts);  // at rest come first
  c.prepare = cases[1].prepare;
  const Entry works = runner.measure("energy/rest", "energy", c);
  REQUIRE(works.metric.value.has_value());
  CHECK(works.samples.size() >= 2);
  CHECK(works.extras.at("loop_s") > 0.9 * loop.seconds);
  CHECK(works.extras.at("power_w") > 5);
  CHECK(works.extras.at("power_w") < 5000);
  CHECK(works.extras.at("seen") == seen);
  // Work, power and the energy of each piece of work agree.
  const double by_power = works.extras.at("power_w") / works.extras.at("work_per_s");
  CHECK(std::abs(*works.metric.value / by_power - 1) < 0.1);
  // A launch sleeps 200 times 20 us, which hardware may halve or double.
  CHECK(works.real_time_s > 1.5e-3);
  CHECK(works.real_time_s < 20e-3);
  CHECK_FALSE(works.telemetry.missing_reason.size());

  loop.work = 0;
  c.metric = {"power", "W", Better::lower, std::nullopt};
  c.prepare = cases[0].prepare;
  const Entry idle = runner.measure("energy/idle", "energy", c);
  REQUIRE(idle.metric.value.has_value());
  CHECK(*idle.metric.value > 5);
  CHECK_FALSE(idle.extras.contains("work_per_s"));

  // What is wrong must not become a figure.
  c.prepare = [](Context& context) {
    const Buffer out = context.buffers().output("out", 4);
    Workload workload;
    workload.launch = [=, stream = context.stream()] {
      FATHOM_CUDA(cudaMemsetAsync(out.data, 0, 4, stream));
    };
    workload.verify = []() -> std::optional<std::string> { return "wrong on purpose"; };
    return workload;
  };
  const Entry wrong = runner.measure("energy/wrong", "energy", c);
  CHECK_FALSE(wrong.metric.value.has_value());
  CHECK(wrong.verdict.status == VerdictStatus::wrong_output);
  CHECK(runner.case_failure() == ExitCode::check_failed);
}
