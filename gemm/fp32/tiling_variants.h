#pragma once

#include <vector>

#include "gemm/variant.h"

namespace fathom::gemm::fp32 {

/// What the plan takes (gemm/fp32/tilings.h), then every other tiling that fits the product, in one part and
/// in the numbers of parts that use each round of blocks on the SMs in full: "128x256x16 in 4 parts".
/// None where no tiling fits.
std::vector<Variant> tiling_variants(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
