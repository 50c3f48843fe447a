#pragma once

#include "gemm/problem.h"
#include "harness/device_facts.h"

namespace fathom::gemm {

/// Whether a product belongs into the sweep on this GPU: its matrices leave room for those of the
/// other classes, which stay where they are, and at the arithmetic peak a launch takes `longest_s`
/// seconds at most. A sweep launches each some thirty times, and first rungs are a hundred times
/// slower than the peak. What is not known of the GPU keeps nothing out.
bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s);

}  // namespace fathom::gemm
