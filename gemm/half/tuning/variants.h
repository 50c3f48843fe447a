#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the Hopper kernels that could take the place of the chosen ones: for
// gemm_half_variants.

namespace fathom::gemm::half {

struct Shaped {
  Variant variant;
  bool skinny = false;  ///< made for products of at most 128 columns
};

std::vector<Shaped> variants();

}  // namespace fathom::gemm::half
