#include "harness/runner.h"
#include "probes/device/launch.h"
#include "probes/energy/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::energy;

namespace {

/// Sums of the words of each chunk, one word at a time.
std::vector<std::uint32_t> chunk_sums(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> sums(words.size() / (chunk_bytes / 4), 0);
  for (std::size_t i = 0; i < words.size(); ++i) sums[i / (chunk_bytes / 4)] += words[i];
  return sums;
}

/// Words that a block read, in the order of its turns, summed.
std::uint32_t followed(const std::vector<std::uint32_t>& sums, std::uint32_t block, int turns) {
  std::uint32_t at = block * chunk_spread % sums.size(), sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    sum += sums[at];
    at = (at + 1) % sums.size();
  }
  return sum;
}

}  // namespace

TEST_CASE("a walk reads what it says, from each level", "[gpu][energy][sanitized]") {
  test::Pool gpu;
  constexpr int blocks = 5;
  for (const Level level : {Level::shared, Level::l1, Level::l2}) {
    const std::uint32_t chunks = level == Level::l2 ? 8 : shared_chunks;
    const Buffer data = gpu.buffers.input("walked", chunks * chunk_bytes, Fill::random_bits);
    const auto sums = chunk_sums(test::to_host<std::uint32_t>(data.data, data.bytes / 4));
    for (const int turns : {1, 2, 19}) {
      CAPTURE(static_cast<int>(level), turns);
      const Buffer out = gpu.poisoned("sums", blocks * sizeof(std::uint32_t));
      launch_walk(level, {data.data, chunks, turns, out.as<std::uint32_t>()}, blocks,
                  gpu.stream.get());
      const auto found = test::to_host<std::uint32_t>(out.data, blocks);
      for (std::uint32_t block = 0; block < blocks; ++block) {
        CHECK(found[block] == followed(sums, block, turns));
      }
      gpu.check_guards();
    }
  }
  CHECK(walk_blocks_per_sm(Level::l1) * walk_threads >= 1024);
}

TEST_CASE("threads at rest come back", "[gpu][energy][sanitized]") {
  test::Pool gpu;
  constexpr int blocks = 3, turns = 4;
  const Buffer out = gpu.poisoned("rested", blocks * rest_threads * sizeof(std::uint32_t));
  launch(rest, {blocks, rest_threads}, gpu.stream.get(), turns, out.as<std::uint32_t>());
  for (const std::uint32_t rested : test::to_host<std::uint32_t>(out.data, blocks * rest_threads)) {
    REQUIRE(rested == turns);
  }
  gpu.check_guards();
}

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
  const int blocks = gpu.facts.sms;
  c.prepare = [=](Context& context) {
    const Buffer out = context.buffers().output(
        "rested", std::size_t{rest_threads} * blocks * sizeof(std::uint32_t));
    Workload workload;
    cudaStream_t stream = context.stream();
    workload.launch = [=] {
      launch(rest, {blocks, rest_threads}, stream, 20, out.as<std::uint32_t>());
    };
    workload.poison = [=, &context] { context.buffers().poison(out); };
    return workload;
  };
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
  // A launch sleeps 20 times 20 us, which hardware may halve or double.
  CHECK(works.real_time_s > 150e-6);
  CHECK(works.real_time_s < 2e-3);
  CHECK_FALSE(works.telemetry.missing_reason.size());

  loop.work = 0;
  c.metric = {"power", "W", Better::lower, std::nullopt};
  c.prepare = [](Context&) { return Workload{}; };
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
