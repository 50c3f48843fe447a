#include <iterator>

#include "probes/instructions/workload.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::instructions;

namespace {

struct Bench : test::Gpu {
  Context context{facts, stream.get(), 1};

  void run(const Instruction& instruction, Variant variant) {
    const Kernels& kernels = find_kernels(instruction.op);
    const Shape& shape = kernels.shape(variant);
    if (shape.chains == 0) return;
    CAPTURE(instruction.id, static_cast<int>(variant));
    const bool latency = variant == Variant::latency;
    const Plan plan{instruction,
                    kernels,
                    variant,
                    2,
                    latency ? instruction.latency_warps : kernels.throughput_warps,
                    3};
    const Workload workload =
        prepare(context, plan, [&](const Plan&, const std::vector<long long>& ticks) {
          for (std::size_t i = 0; i < ticks.size(); i += clocks_per_warp) {
            CHECK(ticks[i + 1] > ticks[i]);
            // What the compiler makes of others it may have taken out of the loop.
            const bool chained = instruction.runs_on(facts.major, facts.minor);
            if (!latency || !chained || test::under_sanitizer()) continue;
            CHECK(ticks[i + 3] - ticks[i + 2] > ticks[i + 1] - ticks[i]);
          }
          return 0;
        });
    const Buffer out = context.buffers().output(
        "out", std::size_t{2} * plan.warps * warp_lanes * shape.chains * 2 * kernels.state_bytes);
    workload.poison();
    workload.launch();
    CHECK(workload.verify().value_or("") == "");
    workload.read_sample();

    // One wrong bit must be seen: in the last lane's last step. An approximate function may round
    // it away, so take a high one.
    const auto written = copy_to_host<std::byte>(out, stream.get());
    auto spoiled = written;
    spoiled.back() ^= std::byte{0x40};
    put(out.data, spoiled);
    CHECK(workload.verify());
    if (workload.load) {
      // Other products, and all of them written.
      const Buffer unchecked = context.buffers().output("unchecked out", out.bytes);
      context.buffers().poison(unchecked);
      workload.load();
      const auto other = copy_to_host<std::byte>(unchecked, stream.get());
      CHECK(other != written);
      CHECK(std::ranges::count(other, std::byte{0xFF}) < std::ssize(other) / 4);
    }
    CHECK(context.buffers().guards_intact().value_or("") == "");
  }
};

void run_all(std::span<const Instruction> instructions) {
  Bench gpu;
  for (const Instruction& instruction : instructions) {
    if (!instruction.compiles_for(gpu.facts.major, gpu.facts.minor)) continue;
    gpu.run(instruction, Variant::latency);
    gpu.run(instruction, Variant::throughput);
  }
}

}  // namespace

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
