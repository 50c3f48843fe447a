#pragma once

#include <vector>

#include "harness/cases.h"
#include "probes/warp_reduce/warp_stage_kernels.h"

namespace fathom::warp_reduce {

/// Sums of a whole array, and the copy that they are held against: claim R1.
std::vector<Case> sum_cases(const DeviceFacts& device);

/// Clocks of one warp's reduction: claim R2.
std::vector<Case> warp_stage_cases(const DeviceFacts& device);

}  // namespace fathom::warp_reduce
