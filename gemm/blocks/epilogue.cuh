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

}  // namespace fathom::gemm
