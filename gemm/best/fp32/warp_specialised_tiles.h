#pragma once

#include "gemm/best/plan.h"

namespace fathom::gemm::fp32 {

/// Elements of the warp-specialised kernel's tiles that cover C.
std::int64_t covered_by_tiles(const Problem& problem);

/// How the warp-specialised kernel does a product, with as many blocks as there are SMs. Its
/// operands come by TMA, and those along k are transposed on their way; where lines do not start on
/// 16 bytes, the operands are copied first.
RungPlan warp_specialised_plan(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
