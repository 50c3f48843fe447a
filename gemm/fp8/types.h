#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>

namespace fathom::gemm::fp8 {

/// e4m3 operands, C in bf16.
struct Types {
  using In = __nv_fp8_e4m3;
  using Out = __nv_bfloat16;
  using Scalar = float;
};

}  // namespace fathom::gemm::fp8
