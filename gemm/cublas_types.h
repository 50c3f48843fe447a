#pragma once

#include <cublas_v2.h>
#include <library_types.h>

#include "gemm/problem.h"

namespace fathom::gemm {

/// How the vendor's library names a class's types.
struct LibraryTypes {
  cudaDataType input, output, scale;
  cublasComputeType_t compute;
};

inline LibraryTypes library_types(Class of) {
  switch (of) {
    case Class::fp32:
    case Class::fp32_3xtf32: return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Class::tf32: return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case Class::fp64: return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case Class::fp16: return {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Class::bf16: return {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Class::fp8: return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Class::int8: return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I};
  }
  return {};
}

inline cublasOperation_t library_operation(Transpose transpose) {
  return transpose == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T;
}

/// alpha and beta in the scalar's type.
class LibraryScalars {
 public:
  explicit LibraryScalars(const Problem& problem) {
    const auto put = [&](double scalar, Value& value) {
      switch (traits(problem.of).scalar) {
        case Element::f64: value.f64 = scalar; break;
        case Element::s32: value.s32 = static_cast<int>(scalar); break;
        default: value.f32 = static_cast<float>(scalar); break;
      }
    };
    put(problem.alpha, alpha_);
    put(problem.beta, beta_);
  }
  const void* alpha() const { return &alpha_; }
  const void* beta() const { return &beta_; }

 private:
  union Value {
    double f64 = 0;
    float f32;
    int s32;
  };
  Value alpha_, beta_;
};

}  // namespace fathom::gemm
