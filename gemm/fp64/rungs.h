#pragma once

#include "gemm/rung.h"

// The fp64 rung that goes on from the lessons (gemm/ladder/fp64).

namespace fathom::gemm::fp64 {

Rung late_reads();

}  // namespace fathom::gemm::fp64
