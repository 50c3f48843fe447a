#pragma once

#include "harness/cases.h"
#include "models/warp_access.h"
#include "probes/model_validation/patterns.h"

namespace fathom::model_validation {

/// Widths of one memory instruction, in bytes per lane.
inline constexpr int widths[] = {1, 2, 4, 8, 16};
/// Two spaces, two operations, five widths: what --patterns is divided among.
inline constexpr int warp_campaigns = 20;

/// Random patterns of one space, operation and width; every counter must read what the model says
/// of each of them.
Case warp_case(Space space, models::Access op, int bytes);

/// Random block sizes, shared memory and carve-outs of kernels with different registers: resident
/// blocks by the model, by the toolkit's cuda_occupancy.h and by the driver.
Case occupancy_case(const DeviceFacts& device);

}  // namespace fathom::model_validation
