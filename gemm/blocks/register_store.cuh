#pragma once

#include "gemm/blocks/wgmma.cuh"

// How the sums of a warpgroup get to C straight from the registers.

namespace fathom::gemm {

/// Stores a warp's sums straight from the registers: any C, two elements at once where its rows
/// start on 16 bytes.
template <class Out, class Scalar, int Count>
__device__ inline void store_from_registers(const TiledProduct<Out, Scalar>& p,
                                            std::uint32_t (&sums)[Count], int row, int column) {
  finish(p, sums, row, column);
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const int r = row + lane / 4 + i % 4 / 2 * 8, c = column + i / 4 * 8 + lane % 4 * 2;
    if (r >= p.m) continue;
    const auto first = sum_of<Scalar>(sums[i]), second = sum_of<Scalar>(sums[i + 1]);
    if (p.tma_stores && c + 1 < p.n) {
      if constexpr (sizeof(Out) == 2) {
        *reinterpret_cast<std::uint32_t*>(&p.c(r, c)) = packed<Out>(first, second);
      } else {
        *reinterpret_cast<uint2*>(&p.c(r, c)) = make_uint2(sums[i], sums[i + 1]);
      }
    } else {
      if (c < p.n) p.c(r, c) = Out(first);
      if (c + 1 < p.n) p.c(r, c + 1) = Out(second);
    }
  }
}

}  // namespace fathom::gemm
