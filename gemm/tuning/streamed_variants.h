#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Shapes of the kernel that streams the large operand of a skinny product (gemm/blocks/
// streamed_design.cuh): for gemm_streamed_variants.

namespace fathom::gemm {

/// Those of a class, which for most is none, and the top of its ladder. `promoted` is of fp8, which
/// has none.
std::vector<Trial> streamed_variants(Class of, bool promoted);

}  // namespace fathom::gemm
