#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the kernels that could take the place of the chosen ones: for gemm_tf32_variants.

namespace fathom::gemm::tf32 {

/// Of tf32 or of fp32 by three products of it, after the rungs that are held against the library.
std::vector<Trial> variants(Class of);

}  // namespace fathom::gemm::tf32
