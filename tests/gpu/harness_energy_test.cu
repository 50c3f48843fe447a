// What needs the energy counter, which every GPU since Volta has outside of a virtual machine.

#include "harness/energy.h"
#include "harness/runner.h"
#include "results/statistics.h"
#include "tests/gpu/gpu_fixture.h"

namespace fathom {
Probe make_energy();  // CMakeLists.txt gives it this name
}

using namespace fathom;

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

// Turns under lasting load, with workloads whose energies are known against each other.

namespace {

__global__ void multiply(int turns, float* out) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = 1e-3f * static_cast<float>(threadIdx.x + i);
  for (int turn = 0; turn < turns; ++turn) {
    for (float& value : x) value = fmaf(value, 0.999f, 1e-3f);
  }
  float sum = 0;
  for (const float value : x) sum += value;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

constexpr int threads = 1024;

struct Loaded : test::Pool {
  TelemetrySampler telemetry{facts.pci_bus_id};
  Buffer out = buffers.output("sums", std::size_t{2} * facts.sms * threads * sizeof(float));

  /// A launch takes a millisecond or so, on as many blocks.
  Workload multiplying(int blocks) {
    Workload workload;
    workload.launch = [=, data = out.as<float>(), s = stream.get()] {
      multiply<<<blocks, threads, 0, s>>>(8000, data);
    };
    workload.launch();
    FATHOM_CUDA(cudaDeviceSynchronize());
    return workload;
  }
  bool counts() const { return !test::under_sanitizer() && telemetry.energy_j().has_value(); }
};

}  // namespace

TEST_CASE("the same work under load takes the same time and energy", "[gpu][harness]") {
  Loaded gpu;
  const Workload same = gpu.multiplying(2 * gpu.facts.sms);
  const std::array twice{same, same};
  const SustainedTurns turns =
      run_sustained(twice, {.lead_in_s = 1}, gpu.stream.get(), gpu.telemetry);
  std::array<double, 2> seconds{}, clocks{};
  for (std::size_t w = 0; w < 2; ++w) {
    REQUIRE(turns[w].size() == 8);
    std::vector<double> of_turns, clocks_of_turns;
    for (const SustainedTurn& turn : turns[w]) {
      of_turns.push_back(turn.seconds);
      REQUIRE(turn.sm_clock_hz.has_value());
      CHECK(*turn.sm_clock_hz < 1.02 * gpu.facts.sm_clock_max_hz);
      clocks_of_turns.push_back(turn.seconds * *turn.sm_clock_hz);
    }
    seconds[w] = median(of_turns);
    clocks[w] = median(clocks_of_turns);
  }
  CAPTURE(seconds, clocks);
  // At the power limit the clock is another in each turn; what the work takes of it is not.
  CHECK(std::abs(seconds[0] / seconds[1] - 1) < 0.03);
  CHECK(std::abs(clocks[0] / clocks[1] - 1) < 0.005);
  if (!gpu.counts()) SKIP("this GPU has no energy counter");
  const auto first = energy_of(turns[0]), second = energy_of(turns[1]);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CAPTURE(first->joules, first->half_width, second->joules, second->half_width);
  CHECK(std::abs(first->joules / second->joules - 1) < 0.05);
  CHECK(first->half_width < 0.1);
}

TEST_CASE("a turn's energy holds nothing of the turn before", "[gpu][harness]") {
  Loaded gpu;
  if (!gpu.counts()) SKIP("this GPU has no energy counter");
  const Workload all = gpu.multiplying(2 * gpu.facts.sms), few = gpu.multiplying(gpu.facts.sms / 8);
  const std::array both{all, few};
  const SustainedTurns turns =
      run_sustained(both, {.lead_in_s = 1}, gpu.stream.get(), gpu.telemetry);
  for (std::size_t w = 0; w < 2; ++w) {
    // A B B A: a turn follows the other's and its own by turns.
    std::array<std::vector<double>, 2> watts;
    for (std::size_t t = 1; t < turns[w].size(); ++t) {
      if (turns[w][t].energy) watts[(t + w) % 2].push_back(turns[w][t].energy->watts());
    }
    REQUIRE(watts[0].size() >= 3);
    REQUIRE(watts[1].size() >= 3);
    CAPTURE(w, watts[0], watts[1]);
    CHECK(std::abs(median(watts[0]) / median(watts[1]) - 1) < 0.03);
  }
}
