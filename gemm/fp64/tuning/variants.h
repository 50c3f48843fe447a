#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the fp64 kernels that could take the place of the chosen ones: for gemm_fp64_variants.

namespace fathom::gemm::fp64 {

std::vector<Trial> variants();

}  // namespace fathom::gemm::fp64
