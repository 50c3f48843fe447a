#include <algorithm>
#include <stdexcept>

#include "probes/energy/cases.h"
#include "probes/instructions/claims.h"
#include "probes/instructions/workload.h"

// The kernels that measure throughput, launched again and again.

namespace fathom::energy {
namespace {

using instructions::Instruction;

/// Of one launch: long against the gap to the next, short enough for the host to follow its chains.
constexpr double launch_clocks = 300'000;

const Instruction& instruction_named(std::string_view id) {
  for (const Instruction& instruction : instructions::all_instructions())
    if (instruction.id == id) return instruction;
  throw std::out_of_range("no instruction " + std::string(id));
}

/// The first one that this GPU has, or null.
const Instruction* best_of(const InstructionLoop& loop, const DeviceFacts& device) {
  for (const std::string_view id : loop.instructions) {
    if (id.empty()) continue;
    const Instruction& instruction = instruction_named(id);
    if (instruction.runs_on(device.major, device.minor)) return &instruction;
  }
  return nullptr;
}

Case instruction_case(const DeviceFacts& device, const InstructionLoop& loop,
                      const Instruction& instruction, const Baseline& baseline) {
  const instructions::Kernels& kernels = instructions::find_kernels(instruction.op);
  const auto bound = instructions::throughput_bound(instruction, device.major, device.minor);
  const double rate = bound ? bound->value : instruction.usual_rate;
  const instructions::Shape& shape = kernels.throughput;
  const int warps = kernels.throughput_warps;
  const double clocks = shape.steps * shape.chains * warps * instruction.results / rate;
  const int iterations = std::max(4, static_cast<int>(launch_clocks / clocks));
  const instructions::Plan plan{instruction, kernels, instructions::Variant::throughput,
                                device.sms,  warps,   iterations};
  // A multiply-add is two operations.
  const double work = plan.steps() * plan.blocks * instruction.results * 2;
  Case c = loop_case("instruction", loop.id, instruction.subject, loop.per, work, baseline);
  c.suite = quick_if(loop.quick);
  c.prepare = [plan](Context& context) { return instructions::prepare(context, plan); };
  return c;
}

}  // namespace

std::vector<Case> instruction_cases(const DeviceFacts& device, const Baseline& baseline) {
  std::vector<Case> cases;
  for (const InstructionLoop& loop : instruction_loops)
    if (const Instruction* instruction = best_of(loop, device))
      cases.push_back(instruction_case(device, loop, *instruction, baseline));
  return cases;
}

}  // namespace fathom::energy
