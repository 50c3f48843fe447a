#pragma once

namespace fathom::gemm::tf32 {

/// fp32 in memory throughout.
struct Types {
  using In = float;
  using Out = float;
  using Scalar = float;
};

}  // namespace fathom::gemm::tf32
