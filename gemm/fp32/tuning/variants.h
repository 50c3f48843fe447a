#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the fp32 kernels that could take the place of the chosen ones: for gemm_fp32_variants.

namespace fathom::gemm::fp32 {

std::vector<Trial> variants();

}  // namespace fathom::gemm::fp32
