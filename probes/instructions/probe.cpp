#include <algorithm>

#include "probes/claims.h"
#include "probes/instructions/workload.h"
#include "results/statistics.h"

namespace fathom::instructions {
namespace {

/// Clocks that a launch should measure for: a few in a hundred thousand are beside the point. A
/// warpgroup's products run below their rate for the first few thousand: measured over so many
/// clocks an H200 completes 99.5 % of what its tensor cores could (recordings/h200/atlas).
constexpr double latency_clocks = 50'000, throughput_clocks = 500'000,
                 warpgroup_throughput_clocks = 1'000'000;

/// Cycles of one instruction in each warp: long loops less short ones, over what they differ by;
/// the median over all warps.
double latency_of(const Plan& plan, const std::vector<long long>& clocks) {
  const double steps =
      static_cast<double>(plan.iterations) * (plan.shape().steps - plan.shape().short_steps);
  std::vector<double> cycles;
  for (auto c = clocks.begin(); c != clocks.end(); c += clocks_per_warp)
    cycles.push_back(static_cast<double>((c[3] - c[2]) - (c[1] - c[0])) / steps /
                     plan.instruction.divisor);
  return median(cycles);
}

/// All warps' results over the clocks from the first one's start to the last one's end; the median
/// SM.
double throughput_of(const Plan& plan, const std::vector<long long>& clocks) {
  std::vector<double> rates;
  for (const double taken : clocks_of_blocks(clocks, plan.warps, clocks_per_warp))
    rates.push_back(plan.steps() * plan.instruction.results / taken);
  return median(rates);
}

Case base_case(const Plan& plan, const char* quantity) {
  const Instruction& instruction = plan.instruction;
  Case c;
  c.name = instruction.id + "/" + quantity;
  c.axes = {{"family", instruction.family},
            {"instruction", instruction.subject},
            {"quantity", quantity},
            {"ptx", instruction.ptx}};
  c.suite = quick_if(instruction.quick);
  c.prepare = [plan](Context& context) {
    return prepare(context, plan, plan.variant == Variant::latency ? latency_of : throughput_of);
  };
  return c;
}

Case latency_case(const Instruction& instruction, const Kernels& kernels,
                  const DeviceFacts& device) {
  const double steps = kernels.latency.short_steps + kernels.latency.steps;
  const int iterations =
      std::max(4, static_cast<int>(latency_clocks / (steps * instruction.usual_latency)));
  Case c =
      base_case({instruction, kernels, Variant::latency, instruction.one_block ? 1 : device.sms,
                 instruction.latency_warps, iterations},
                "latency");
  c.metric = {"latency", "cycles", Better::lower, std::nullopt};
  if (instruction.published_latency && 10 * device.major + device.minor <= 90)
    c.expected = Expectation{*instruction.published_latency, 0.05, latency_source};
  return c;
}

Case throughput_case(const Instruction& instruction, const DeviceFacts& device) {
  const Plan plan =
      throughput_plan(device, instruction,
                      instruction.hopper_only ? warpgroup_throughput_clocks : throughput_clocks);
  Case c = base_case(plan, "throughput");
  c.metric = {"throughput", throughput_unit(instruction), Better::higher, std::nullopt};
  c.bound = throughput_bound(instruction, device.major, device.minor);
  if (published_rate(instruction, device.major, device.minor) && instruction.reaches_bound)
    // The loop around the instructions costs at most 2 % of the issue slots.
    c.expected = Expectation{c.bound->value, 0.03, c.bound->source};
  // Before the loop, around it and the last step: a few dozen instructions.
  CounterRequest executed{"instructions_executed"};
  if (instruction.counted && plan.iterations * plan.shape().steps * plan.shape().chains > 2000)
    executed = {"instructions_executed", plan.steps() * instruction.per_step * plan.blocks, 0.05,
                "steps of all chains and warps; the loop and what is around it are left out"};
  c.counters = {executed, {"sm_cycles_active"}};
  return c;
}

std::vector<Case> cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const Instruction& instruction : all_instructions()) {
    if (!instruction.runs_on(device.major, device.minor)) continue;
    const Kernels& kernels = find_kernels(instruction.op);
    if (kernels.latency.chains > 0) result.push_back(latency_case(instruction, kernels, device));
    if (kernels.throughput.chains > 0) result.push_back(throughput_case(instruction, device));
  }
  return result;
}

const Probe probe{
    .name = "instructions",
    .question =
        "How long does each instruction take, and how many of it does an SM complete in a clock?",
    .method =
        "Latency: one chain of dependent instructions in a warp of every SM, in two loops of the "
        "same trip count whose bodies differ in length, so that their difference holds no loop; "
        "the median over all warps. Throughput: independent chains in many warps of one block on "
        "each SM, all results over the clocks from the first warp's start to the last warp's end; "
        "the median over the SMs. Each chain's last step, and where the instruction is exact the "
        "whole chain, must be the host's; matrices hold small whole numbers, which every type sums "
        "exactly.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace
}  // namespace fathom::instructions

FATHOM_PROBE(fathom::instructions::probe)
