#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "probes/memory_bandwidth/cases.h"

// The register file: operands that fused multiply-adds read.

namespace fathom::memory_bandwidth {
namespace {

constexpr int blocks_per_sm = 2;
constexpr double clocks = 500'000;
constexpr double operand_bytes = 3 * sizeof(float);

/// A chain multiplies by a factor and by its inverse in turn, and adds terms that cancel.
constexpr float factors[] = {1.5f, 2.0f / 3}, terms[] = {0.375f, -0.25f};

/// What every chain holds in the end, [lane][chain].
std::vector<float> expected_chains(int iterations) {
  std::vector<float> result;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int chain = 0; chain < register_chains; ++chain) {
      float& x = result.emplace_back(register_start(lane, chain));
      for (int step = 0; step < iterations * register_steps; ++step)
        x = std::fma(x, factors[step % 2], terms[step % 2]);
    }
  }
  return result;
}

Reporting prepare(Context& context, int blocks, int iterations) {
  cudaStream_t stream = context.stream();
  std::vector<float> operands;
  for (int chain = 0; chain < register_chains; ++chain)
    for (const float value : {factors[0], factors[1], terms[0], terms[1]})
      operands.insert(operands.end(), warp_lanes, value);
  const Buffer operand_buffer = upload(context, "operands", std::as_bytes(std::span(operands)));
  const std::size_t threads = static_cast<std::size_t>(blocks) * register_threads;
  const Buffer reports =
      context.buffers().output("reports", threads / warp_lanes * sizeof(WarpReport));
  const Buffer after = context.buffers().output("after", threads * register_chains * sizeof(float));
  const RegisterRun run{blocks, iterations, operand_buffer.as<float>(), reports.as<WarpReport>(),
                        after.as<float>()};
  return {workload_of(
              context, {reports, after},
              [=] {
                launch(read_registers, {blocks, register_threads}, stream, run);
              },
              [=, expected = expected_chains(iterations)] {
                return check_elements<float>(after, stream, "the end of chain", [&](std::size_t i) {
                  return expected[i % expected.size()];
                });
              }),
          reports,
          1.0 * iterations * register_steps * register_chains * warp_lanes * operand_bytes};
}

}  // namespace

std::vector<Case> register_cases(const DeviceFacts& device) {
  const int lanes = limits_of(device).fp32_per_clock;
  const double warps = blocks_per_sm * register_threads / warp_lanes;
  const double per_iteration = register_steps * register_chains * warps * warp_lanes / lanes;
  const int iterations = std::max(1, static_cast<int>(clocks / per_iteration));
  const int blocks = device.sms * blocks_per_sm;
  Case c = make_case("level", "registers", Operation::load, "fma.rn.f32", 4,
                     {{"SMs", std::int64_t{device.sms}}, {"warps per SM", std::int64_t(warps)}},
                     Suite::quick);
  c.bound = sm_bound(device, device.sms, lanes * operand_bytes,
                     fmt::format("{} multiply-adds of three 4-byte operands", lanes));
  const double executed = static_cast<double>(blocks) * register_threads / warp_lanes * iterations *
                          register_steps * register_chains;
  c.counters = {{"instructions_executed", executed, 0.03,
                 "the multiply-adds; the loop and what is around it are left out"}};
  c.extras = {{"sm_bound_bytes_per_clock", lanes * operand_bytes}};
  c.prepare =
      report_workload([=](Context& context) { return prepare(context, blocks, iterations); });
  return {c};
}

}  // namespace fathom::memory_bandwidth
