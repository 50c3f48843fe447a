#pragma once

namespace fathom::gemm {

/// Along which dimension an operand is contiguous in memory: k, or its other one (m of the first
/// operand, n of the second). The numbers are those of wgmma's imm-trans.
enum class Major { k = 0, outer = 1 };

}  // namespace fathom::gemm
