#pragma once

#include <cstdint>

#include "gemm/bench/rung.h"
#include "gemm/blocks/matrix.cuh"

// From a product's arguments to its matrices, in one of two ways to look at the same memory, so
// that transposes and leading dimensions are no case of their own. Host code.

namespace fathom::gemm {

/// The product as BLAS states it: C contiguous down a column.
template <class In, class Out = In, class Scalar = Out>
Product<In, Out, Scalar> column_major(const Arguments& arguments) {
  const Problem& p = arguments.problem;
  const auto view = [](const void* data, std::int64_t leading_dimension, Transpose transpose) {
    const bool plain = transpose == Transpose::no;
    return Matrix<const In>{static_cast<const In*>(data), plain ? 1 : leading_dimension,
                            plain ? leading_dimension : 1};
  };
  return {static_cast<int>(p.m),
          static_cast<int>(p.n),
          p.alpha == 0 ? 0 : static_cast<int>(p.k),  // BLAS does not read A and B then
          static_cast<Scalar>(p.alpha),
          static_cast<Scalar>(p.beta),
          view(arguments.a, p.lda, p.transa),
          view(arguments.b, p.ldb, p.transb),
          {static_cast<Out*>(arguments.c), 1, p.ldc}};
}

/// The same memory as C^T = op(B)^T op(A)^T: C contiguous along a row (see gemm/bench/problem.h).
template <class In, class Out = In, class Scalar = Out>
Product<In, Out, Scalar> row_major(const Arguments& arguments) {
  const Product<In, Out, Scalar> p = column_major<In, Out, Scalar>(arguments);
  const auto transposed = [](auto x) { return decltype(x){x.data, x.column_stride, x.row_stride}; };
  return {p.n, p.m, p.k, p.alpha, p.beta, transposed(p.b), transposed(p.a), transposed(p.c)};
}

/// Whether nothing is to be written.
inline bool is_empty(const Problem& problem) { return problem.m == 0 || problem.n == 0; }

/// Tiles of a grid of one block a tile in x, the only dimension of more than 65535 blocks.
struct TileGrid {
  int tiles_m, tiles_n;
  TileGrid(int m, int n, int tile_m, int tile_n)
      : tiles_m(static_cast<int>(ceil_div(m, tile_m))),
        tiles_n(static_cast<int>(ceil_div(n, tile_n))) {}
  unsigned blocks() const {
    return static_cast<unsigned>(tiles_m) * static_cast<unsigned>(tiles_n);
  }
};

}  // namespace fathom::gemm
