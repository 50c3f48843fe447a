#pragma once

#include "harness/cases.h"
#include "probes/instructions/instructions.h"
#include "probes/instructions/kernels.h"

namespace fathom::instructions {

struct Plan {
  const Instruction& instruction;
  const Kernels& kernels;
  Variant variant;
  int blocks, warps, iterations;

  const Shape& shape() const { return kernels.shape(variant); }
  /// Steps of all chains of a block in the timed loop.
  double steps() const {
    return static_cast<double>(iterations) * shape().steps * shape().chains * warps;
  }
};

/// The throughput kernel on every SM, for about so many clocks.
Plan throughput_plan(const DeviceFacts& device, const Instruction& instruction, double clocks);

/// A launch, checked against the instruction's reference. `read_clocks` makes the metric of the
/// clocks that all warps wrote (`clocks_per_warp` each); without it the launch is timed from
/// outside. Where the operands can be randomised, the workload's `load` runs on such.
Workload prepare(
    Context& context, const Plan& plan,
    std::function<double(const Plan&, const std::vector<long long>&)> read_clocks = {});

}  // namespace fathom::instructions
