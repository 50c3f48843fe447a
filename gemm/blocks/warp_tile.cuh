#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tma.cuh"

// How the sums of a warpgroup get to C. A warp has 16 rows; sum 4 j + i of a thread is column
// 8 j + 2 (lane % 4) + i % 2 of row lane / 4 + 8 (i / 2) (PTX ISA, the fragment of D of wgmma).

namespace fathom::gemm {

/// A product of which the kernels of the copy engine compute a tile, in row-major terms; k and alpha are not 0.
template <class Out, class Scalar>
struct TiledProduct {
  CUtensorMap map_a, map_b, map_c;
  int m, n;
  int depth;               ///< stages of k
  int tiles_m, tiles_n;    ///< of a cluster
  Scalar alpha, beta;
  Matrix<Out> c;
  bool engine_stores;      ///< map_c can be used: c's rows are contiguous and start on 16 bytes
};

template <class Out>
__device__ inline Out converted(float x) {
  if constexpr (sizeof(Out) == sizeof(float)) {
    return x;
  } else {
    return Out(x);
  }
}
template <class Out>
__device__ inline float widened(Out x) {
  return static_cast<float>(x);
}

/// An element of C from its sum. With beta = 0 the old one is not read: it may be NaN.
template <class Out>
__device__ inline float finished(const TiledProduct<Out, float>& p, int row, int column, float sum) {
  const float scaled = p.alpha * sum;
  if (p.beta == 0.0f || row >= p.m || column >= p.n) return scaled;
  return fmaf(p.beta, widened(p.c(row, column)), scaled);
}

/// Two neighbours of a row as 32 bits.
template <class Out>
__device__ inline std::uint32_t packed(float first, float second) {
  const Out pair[2] = {converted<Out>(first), converted<Out>(second)};
  std::uint32_t bits = 0;
  memcpy(&bits, pair, 4);
  return bits;
}

/// Stores a warp's sums straight from the registers: any C, two elements at once where its rows start on
/// 16 bytes.
template <class Out, int Count>
__device__ inline void store_from_registers(const TiledProduct<Out, float>& p, const std::uint32_t (&sums)[Count],
                                            int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const int r = row + lane / 4 + i % 4 / 2 * 8, c = column + i / 4 * 8 + lane % 4 * 2;
    if (r >= p.m) continue;
    const float first = finished(p, r, c, __uint_as_float(sums[i]));
    const float second = finished(p, r, c + 1, __uint_as_float(sums[i + 1]));
    if (sizeof(Out) == 2 && p.engine_stores && c + 1 < p.n) {
      *reinterpret_cast<std::uint32_t*>(&p.c(r, c)) = packed<Out>(first, second);
    } else {
      if (c < p.n) p.c(r, c) = converted<Out>(first);
      if (c + 1 < p.n) p.c(r, c + 1) = converted<Out>(second);
    }
  }
}

/// Writes four 8 x 8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

/// Columns of 16-bit elements that a warp hands to the copy engine at once, and the bytes of its 16 rows.
inline constexpr int staged_columns = 64, staged_bytes = 16 * 128;
/// Buffers a warp: one is filled while the other is read.
inline constexpr int staging_slots = 2;

/// Stores a warp's sums through its two buffers at `staging`, each 2 KiB that the engine stores while the
/// warp goes on, the last two even while it multiplies the next tile. Ends with stores under way.
template <class Out, int Count>
__device__ inline void store_by_engine(const TiledProduct<Out, float>& p, const std::uint32_t (&sums)[Count],
                                       int row, int column, std::uint32_t staging) {
  // An even number of chunks: the buffers take turns over tiles too.
  static_assert(sizeof(Out) == 2 && Count * 2 % (staged_columns * staging_slots) == 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // Of the matrices of a store: 0 and 1 are rows 0 to 7 and 8 to 15 of 8 columns, 2 and 3 of the next 8.
  const int own_row = lane / 8 % 2 * 8 + lane % 8, own_word = lane / 16;
#pragma unroll
  for (int chunk = 0; chunk < Count * 2 / staged_columns; ++chunk) {
    const std::uint32_t buffer = staging + chunk % staging_slots * staged_bytes;
    if (lane == 0) wait_stores_read<staging_slots - 1>();
    __syncwarp();
#pragma unroll
    for (int j = 0; j < staged_columns / 16; ++j) {
      std::uint32_t r[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int sum = chunk * (staged_columns / 2) + j * 8 + i / 2 * 4 + i % 2 * 2;
        const int to_row = row + lane / 4 + i % 2 * 8;
        const int to_column = column + chunk * staged_columns + j * 16 + i / 2 * 8 + lane % 4 * 2;
        r[i] = packed<Out>(finished(p, to_row, to_column, __uint_as_float(sums[sum])),
                           finished(p, to_row, to_column + 1, __uint_as_float(sums[sum + 1])));
      }
      // As the engine wants it: 16-byte word w of line l at w ^ (l % 8).
      store_matrices(buffer + own_row * 128 + ((j * 2 + own_word) ^ (own_row % 8)) * 16, r);
    }
    fence_async_proxy();
    __syncwarp();
    if (lane == 0) {
      // What is outside C is not stored; the group is closed all the same, to count alike.
      const int to_column = column + chunk * staged_columns;
      if (row < p.m && to_column < p.n) store_box(p.map_c, to_column, row, buffer);
      commit_stores();
    }
  }
}

}  // namespace fathom::gemm
