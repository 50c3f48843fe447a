#pragma once

#include <cstdint>

namespace fathom::gemm::int8 {

/// Exact: sums and C in 32 bits.
struct Types {
  using In = std::int8_t;
  using Out = int;
  using Scalar = int;
};

}  // namespace fathom::gemm::int8
