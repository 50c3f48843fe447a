#pragma once

#include "gemm/blocks/wgmma.cuh"

// How the sums of a warpgroup get to C straight from the registers.

namespace fathom::gemm {

/// An element of C from its sum. With beta = 0 the old one is not read: it may be NaN.
template <class Out, class Scalar>
__device__ inline Scalar finished(const TiledProduct<Out, Scalar>& p, int row, int column,
                                  Scalar sum) {
  const Scalar scaled = p.alpha * sum;
  if (p.beta == Scalar(0) || row >= p.m || column >= p.n) return scaled;
  return p.beta * static_cast<Scalar>(p.c(row, column)) + scaled;
}

/// Stores a warp's sums straight from the registers: any C, two elements at once where its rows
/// start on 16 bytes. The old C is looked at only if `beta` says that there is one.
template <bool beta, class Out, class Scalar, int Count>
__device__ inline void store_sums(const TiledProduct<Out, Scalar>& p,
                                  const std::uint32_t (&sums)[Count], int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const int r = row + lane / 4 + i % 4 / 2 * 8, c = column + i / 4 * 8 + lane % 4 * 2;
    if (r >= p.m) continue;
    Scalar first = p.alpha * sum_of<Scalar>(sums[i]);
    Scalar second = p.alpha * sum_of<Scalar>(sums[i + 1]);
    if constexpr (beta) {
      first = finished(p, r, c, sum_of<Scalar>(sums[i]));
      second = finished(p, r, c + 1, sum_of<Scalar>(sums[i + 1]));
    }
    if (p.tma_stores && c + 1 < p.n) {
      if constexpr (sizeof(Out) == 2) {
        *reinterpret_cast<std::uint32_t*>(&p.c(r, c)) = packed<Out>(first, second);
      } else {
        *reinterpret_cast<uint2*>(&p.c(r, c)) = make_uint2(bits_of(first), bits_of(second));
      }
    } else {
      if (c < p.n) p.c(r, c) = Out(first);
      if (c + 1 < p.n) p.c(r, c + 1) = Out(second);
    }
  }
}

template <class Out, class Scalar, int Count>
__device__ inline void store_from_registers(const TiledProduct<Out, Scalar>& p,
                                            const std::uint32_t (&sums)[Count], int row,
                                            int column) {
  if (p.beta == Scalar(0)) return store_sums<false>(p, sums, row, column);
  store_sums<true>(p, sums, row, column);
}

}  // namespace fathom::gemm
