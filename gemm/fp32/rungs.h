#pragma once

#include "gemm/rung.h"

// fp32's contenders, beside the lessons (gemm/ladder/fp32): of every GPU since sm_80, and of Hopper.

namespace fathom::gemm::fp32 {

Rung planned_tiles();
Rung sliced_depth();

}  // namespace fathom::gemm::fp32
