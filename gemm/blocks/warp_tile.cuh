#pragma once

#include <type_traits>

#include "gemm/blocks/register_store.cuh"
#include "gemm/blocks/wgmma_store.cuh"

// What contenders do with a warp's sums beside what lessons need: a C whose rows start anywhere.

namespace fathom::gemm {

template <class T>
__device__ inline T load_staged(std::uint32_t buffer, int row, int column) {
  constexpr int per_word = 16 / static_cast<int>(sizeof(T));
  const std::uint32_t address =
      staged_word(buffer, row, column / per_word) + column % per_word * sizeof(T);
  T x;
  if constexpr (sizeof(T) == 2) {
    asm volatile("ld.shared.b16 %0, [%1];" : "=h"(x) : "r"(address) : "memory");
  } else {
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
  }
  return x;
}

/// Stores a warp's sums through its buffer, row by row in neighbouring lanes, for a C whose rows
/// start anywhere: 16-bit elements in pairs on 4 bytes; the last lane has both ends' rest.
template <class Out, class Scalar, int Count>
__device__ inline void store_by_rows(const TiledProduct<Out, Scalar>& p,
                                     const std::uint32_t (&sums)[Count], int row, int column,
                                     std::uint32_t buffer) {
  using Bits = std::conditional_t<sizeof(Out) == 2, std::uint16_t, std::uint32_t>;
  constexpr int columns = staged_columns<Out>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int chunk = 0; chunk < Count * 2 / columns; ++chunk) {
    const int to_column = column + chunk * columns, width = p.n - to_column;
    __syncwarp();
    stage_chunk<Out, Scalar>(sums, chunk * columns / 2, buffer);
    __syncwarp();
#pragma unroll 4
    for (int r = 0; r < 16; ++r) {
      if (row + r >= p.m) break;
      auto* const out = reinterpret_cast<Bits*>(&p.c(row + r, to_column));
      if constexpr (sizeof(Out) == 2) {
        const int odd = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / 2 % 2);
        const int first = lane * 2 + odd, second = (first + 1) % columns;
        const Bits x = load_staged<Bits>(buffer, r, first),
                   y = load_staged<Bits>(buffer, r, second);
        if (second > first && second < width) {
          *reinterpret_cast<std::uint32_t*>(out + first) = std::uint32_t{y} << 16 | x;
        } else {
          if (first < width) out[first] = x;
          if (second < width) out[second] = y;
        }
      } else {
        if (lane < width) out[lane] = load_staged<Bits>(buffer, r, lane);
      }
    }
  }
}

}  // namespace fathom::gemm
