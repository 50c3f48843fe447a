#pragma once

#include "gemm/rung.h"

// The ladder of fp32 by three products of tf32, one function per rung and file, in order.

namespace fathom::gemm::fp32_3xtf32 {

Rung promoted();
Rung planned_tiles();

}  // namespace fathom::gemm::fp32_3xtf32
