#pragma once

#include "gemm/best/plan.h"

namespace fathom::gemm::fp32 {

/// Elements of the warp-specialised kernel's tiles that cover C.
std::int64_t covered_by_tiles(const Problem& problem);

/// How the warp-specialised kernel does a product, a block an SM. Operands come by TMA, those along
/// k are transposed on their way, and those whose lines do not start on 16 bytes are copied first.
RungPlan warp_specialised_plan(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
