#include <iterator>

#include "harness/cuda_check.h"
#include "probes/instructions/instructions.h"
#include "probes/instructions/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::instructions;

namespace {

void run(const Instruction& instruction, Variant variant, test::Pool& gpu) {
  const Kernels& kernels = find_kernels(instruction.op);
  const Shape& shape = kernels.shape(variant);
  if (shape.chains == 0) return;
  CAPTURE(instruction.id, static_cast<int>(variant));
  constexpr int blocks = 2, iterations = 3;
  const int warps =
      variant == Variant::latency ? instruction.latency_warps : kernels.throughput_warps;
  std::vector<std::byte> starts(kernels.start_threads * shape.chains * kernels.state_bytes);
  std::vector<std::byte> operands(kernels.operands_bytes);
  kernels.fill(shape.chains, starts.data(), operands.data());
  const Buffer start_buffer = gpu.filled("starts", starts);
  const int writing = std::min(warps, kernels.writing_warps);
  const Buffer clocks =
      gpu.poisoned("clocks", blocks * warps * clocks_per_warp * sizeof(long long));
  const Buffer out = gpu.buffers.output(
      "out", std::size_t{blocks} * writing * warp_lanes * shape.chains * 2 * kernels.state_bytes);
  const auto written_with = [&](const std::vector<std::byte>& values) {
    const Buffer operand_buffer = gpu.filled("operands", values);
    gpu.buffers.poison(out);
    kernels.launch(
        variant,
        {start_buffer.data, operand_buffer.data, iterations, clocks.as<long long>(), out.data},
        blocks, warps, gpu.stream.get());
    return test::to_host<std::byte>(out.data, out.bytes);
  };
  const auto written = written_with(operands);
  CHECK(kernels.check(shape, iterations, written) == "");
  const auto ticks = test::to_host<long long>(clocks.data, blocks * warps * clocks_per_warp);
  for (std::size_t i = 0; i < ticks.size(); i += clocks_per_warp) {
    CHECK(ticks[i + 1] > ticks[i]);
    // What the compiler makes of others it may have taken out of the loop.
    const bool chained = instruction.runs_on(gpu.facts.major, gpu.facts.minor);
    if (variant != Variant::latency || !chained || test::under_sanitizer()) continue;
    CHECK(ticks[i + 3] - ticks[i + 2] > ticks[i + 1] - ticks[i]);
  }
  gpu.check_guards();

  // One wrong bit must be seen: in the last lane's last step. An approximate function may round it
  // away, so take a high one.
  auto spoiled = written;
  spoiled.back() ^= std::byte{0x40};
  CHECK(kernels.check(shape, iterations, spoiled) != "");

  if (kernels.randomise == nullptr) return;
  auto random = operands;
  kernels.randomise(random.data());
  CHECK(random != operands);
  // Other products, and all of them written.
  const auto other = written_with(random);
  CHECK(other != written);
  CHECK(std::ranges::count(other, std::byte{0xFF}) < std::ssize(other) / 4);
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
