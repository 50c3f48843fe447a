#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace fathom::gemm::half {

template <class Element>
struct Types {
  using In = Element;
  using Out = Element;
  using Scalar = float;
};

}  // namespace fathom::gemm::half
