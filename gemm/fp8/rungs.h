#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::fp8 {

Rung promoted();
Rung fast_accumulation();

}  // namespace fathom::gemm::fp8
