#pragma once

#include "harness/cases.h"

namespace fathom::model_validation {

/// Random block sizes, shared memory and carve-outs of kernels with different registers: resident
/// blocks by the model, by the toolkit's cuda_occupancy.h and by the driver.
Case occupancy_case(const DeviceFacts& device);

}  // namespace fathom::model_validation
