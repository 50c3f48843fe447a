#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the Hopper kernels that could take the place of the chosen ones: for
// gemm_half_variants.

namespace fathom::gemm::half {

/// Of bf16 or of fp8, and of fp8 those whose sums are promoted or those that accumulate fast.
std::vector<Trial> variants(Class of, bool promoted);

}  // namespace fathom::gemm::half
