#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the kernel that streams the large operand of a skinny product (gemm/blocks/
// streamed_design.cuh): for gemm_streamed_variants.

namespace fathom::gemm {

/// Those of a class, which for most is none; of fp8, for sums that keep all bits as well as for
/// those that need not.
std::vector<Trial> streamed_variants(Class of);

}  // namespace fathom::gemm
