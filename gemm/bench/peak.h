#pragma once

#include <optional>

#include "gemm/bench/problem.h"
#include "harness/device_facts.h"

namespace fathom::gemm {

/// What the arithmetic units that a class of product is made for can do at most at the GPU's
/// highest SM clock: of fp32 the FMA units, of fp64 the faster of FMA units and tensor cores, of
/// `fp32_3xtf32` a third of tf32's rate, since it takes three products; of the others the tensor
/// cores. FLOP/s. Nothing for a chip or a type whose rate is not known
/// (models/instruction_throughput.h).
std::optional<Bound> arithmetic_peak(const DeviceFacts& device, Class of);

/// Whether a product belongs into the sweep on this GPU: its matrices leave room for those of the
/// other classes, which stay where they are, and at the arithmetic peak a launch takes `longest_s`
/// seconds at most. A sweep launches each some thirty times, and first rungs are a hundred times
/// slower than the peak. What is not known of the GPU keeps nothing out.
bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s);

}  // namespace fathom::gemm
