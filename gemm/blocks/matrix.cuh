#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// A product's matrices as a kernel sees them, as views with strides, and the order of its tiles.

namespace fathom::gemm {

/// Along which dimension an operand is contiguous in memory: k, or its other one (m of the first
/// operand, n of the second). The numbers are those of wgmma's imm-trans.
enum class Major { k = 0, outer = 1 };

/// Element (row, column) is at data[row * row_stride + column * column_stride].
template <class T>
struct Matrix {
  T* data;
  std::int64_t row_stride, column_stride;

  __device__ T& operator()(int row, int column) const {
    return data[row * row_stride + column * column_stride];
  }
};

/// C (m x n) = alpha A (m x k) B (k x n) + beta C, transposes already in the strides.
template <class In, class Out = In, class Scalar = Out>
struct Product {
  int m, n, k;
  Scalar alpha, beta;
  Matrix<const In> a, b;
  Matrix<Out> c;
};

/// What becomes of one element of C. With beta = 0 the old one is not read: it may be NaN.
template <class In, class Out, class Scalar>
__device__ void store_element(const Product<In, Out, Scalar>& p, int row, int column, Scalar sum) {
  Out& c = p.c(row, column);
  const Scalar scaled = p.alpha * sum;
  c = Out(p.beta == Scalar(0) ? scaled : scaled + p.beta * static_cast<Scalar>(c));
}

struct TileIndex {
  int m, n;
};

/// The tile of a block: bands of `Band` tile rows, each gone through column by column, so that
/// blocks that run at the same time share both operands in the L2 rather than one only.
template <int Band>
__device__ TileIndex banded_tile(int block, int tiles_m, int tiles_n) {
  const int band = block / (Band * tiles_n);
  const int first = band * Band;
  const int left = tiles_m - first, height = left < Band ? left : Band;
  const int within = block - band * Band * tiles_n;
  return {first + within % height, within / height};
}

}  // namespace fathom::gemm
