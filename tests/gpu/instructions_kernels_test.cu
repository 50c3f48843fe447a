#include "probes/instructions/workload.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::instructions;

namespace {

void run(const Instruction& instruction, Variant variant, test::Pool& gpu) {
  const Kernels& kernels = find_kernels(instruction.op);
  if (kernels.shape(variant).chains == 0) return;
  CAPTURE(instruction.id, static_cast<int>(variant));
  const int warps =
      variant == Variant::latency ? instruction.latency_warps : kernels.throughput_warps;
  std::vector<long long> ticks;
  const Workload workload = prepare(gpu.context, {instruction, kernels, variant, 2, warps, 3},
                                    [&](const Plan&, const std::vector<long long>& clocks) {
                                      ticks = clocks;
                                      return 0.0;
                                    });
  workload.poison();
  workload.launch();
  CHECK(workload.verify().value_or("") == "");
  workload.read_sample();
  for (std::size_t i = 0; i < ticks.size(); i += clocks_per_warp) {
    CHECK(ticks[i + 1] > ticks[i]);
    // What the compiler makes of others it may have taken out of the loop.
    const bool chained = instruction.runs_on(gpu.facts.major, gpu.facts.minor);
    if (variant != Variant::latency || !chained || test::under_sanitizer()) continue;
    CHECK(ticks[i + 3] - ticks[i + 2] > ticks[i + 1] - ticks[i]);
  }
  // What `prepare` has asked for: two blocks' states before one last step and after it.
  const std::size_t bytes = 2 * std::min(warps, kernels.writing_warps) * warp_lanes *
                            kernels.shape(variant).chains * 2 * kernels.state_bytes;
  const Buffer out = gpu.buffers.output("out", bytes);
  const auto written = gpu.read<std::byte>(out);
  if (workload.load) {
    // Other products, and all of them written.
    const Buffer other = gpu.poisoned("unchecked out", bytes);
    workload.load();
    const auto random = gpu.read<std::byte>(other);
    CHECK(random != written);
    CHECK(std::ranges::count(random, std::byte{0xFF}) < std::ssize(random) / 4);
  }
  // One wrong bit must be seen: in the last lane's last step. An approximate function may round it
  // away, so take a high one.
  gpu.set(out.data + bytes - 1, static_cast<int>(written.back() ^ std::byte{0x40}), 1);
  CHECK(workload.verify());
  gpu.check_guards();
}

void run_all(std::span<const Instruction> instructions) {
  test::Pool gpu;
  for (const Instruction& instruction : instructions) {
    if (!instruction.compiles_for(gpu.facts.major, gpu.facts.minor)) continue;
    run(instruction, Variant::latency, gpu);
    run(instruction, Variant::throughput, gpu);
  }
}

}  // namespace

// A test for each list: under a sanitizer each test has its own time limit.
TEST_CASE("arithmetic instructions compute what their references do",
          "[gpu][instructions][sanitized]") {
  run_all(arithmetic_instructions);
}
TEST_CASE("warp instructions compute what their references do", "[gpu][instructions][sanitized]") {
  run_all(warp_instructions);
}
TEST_CASE("mma computes what its reference does", "[gpu][instructions][sanitized]") {
  run_all(mma_instructions);
}
TEST_CASE("wgmma computes what its reference does", "[gpu][instructions][sanitized]") {
  run_all(wgmma_instructions);
}
