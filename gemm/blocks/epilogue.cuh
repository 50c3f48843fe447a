#pragma once

#include "gemm/blocks/matrix.cuh"

namespace fathom::gemm {

/// What becomes of one element of C. With beta = 0 the old one is not read: it may be NaN.
template <class In, class Out, class Scalar>
__device__ void store_element(const Product<In, Out, Scalar>& p, int row, int column, Scalar sum) {
  Out& c = p.c(row, column);
  const Scalar scaled = p.alpha * sum;
  c = Out(p.beta == Scalar(0) ? scaled : scaled + p.beta * static_cast<Scalar>(c));
}

/// Four neighbours of a row of fp32, 16-byte aligned, of a row-major C.
__device__ inline void store_vector(const Product<float>& p, int row, int column,
                                    const float* sum) {
  float4* const c = reinterpret_cast<float4*>(&p.c(row, column));
  float4 x = make_float4(p.alpha * sum[0], p.alpha * sum[1], p.alpha * sum[2], p.alpha * sum[3]);
  if (p.beta != 0.0f) {
    const float4 old = *c;
    x.x = fmaf(p.beta, old.x, x.x);
    x.y = fmaf(p.beta, old.y, x.y);
    x.z = fmaf(p.beta, old.z, x.z);
    x.w = fmaf(p.beta, old.w, x.w);
  }
  *c = x;
}

}  // namespace fathom::gemm
