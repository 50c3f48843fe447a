#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "gemm/bench/problem.h"

namespace fathom::gemm {

/// The types that a kernel computes with: of A and B, of C, and of sums, alpha and beta.
template <class Input, class Output = Input, class Sum = Output>
struct KernelTypes {
  using In = Input;
  using Out = Output;
  using Scalar = Sum;
};

/// Calls `use` with a class's.
template <class Use>
void with_types(Class of, const Use& use) {
  switch (of) {
    case Class::fp32:
    case Class::fp32_3xtf32:
    case Class::tf32:
      return use(KernelTypes<float>{});
    case Class::fp64:
      return use(KernelTypes<double>{});
    case Class::fp16:
      return use(KernelTypes<__half, __half, float>{});
    case Class::bf16:
      return use(KernelTypes<__nv_bfloat16, __nv_bfloat16, float>{});
    case Class::fp8:
      return use(KernelTypes<__nv_fp8_e4m3, __nv_bfloat16, float>{});
    case Class::int8:
      return use(KernelTypes<std::int8_t, int>{});
  }
}

}  // namespace fathom::gemm
