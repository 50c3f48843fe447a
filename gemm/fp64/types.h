#pragma once

namespace fathom::gemm::fp64 {

/// fp64 throughout.
struct Types {
  using In = double;
  using Out = double;
  using Scalar = double;
};

}  // namespace fathom::gemm::fp64
