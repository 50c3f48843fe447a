#pragma once

#include "probes/claims.h"
#include "probes/instructions/instructions.h"

namespace fathom::instructions {

/// Every instruction, in the order of the report.
std::span<const Instruction> all_instructions();

/// What a throughput counts: "results/clk/SM", or "FMA/clk/SM" of tensor instructions.
const char* throughput_unit(const Instruction& instruction);

/// What is published of the results that an SM completes of it in a clock.
std::optional<double> published_rate(const Instruction& instruction, int major, int minor);

/// The most results an SM can have of it in a clock: the published rate, or what the schedulers can
/// issue, whichever is less.
std::optional<Bound> throughput_bound(const Instruction& instruction, int major, int minor);

}  // namespace fathom::instructions
