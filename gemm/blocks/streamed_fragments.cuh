#pragma once

#include <cstring>
#include <type_traits>

#include "gemm/blocks/dmma.cuh"
#include "gemm/blocks/major.h"
#include "gemm/blocks/streamed_config.cuh"

// What a lane has of a step of k, 128 bytes of each of 16 rows of A and of each of 16 columns of B:
// two chunks of 16 bytes of rows l / 4 and l / 4 + 8, and of columns 2 (l / 4) and the next.
//
// The tensor cores want other places along k than the neighbours of a chunk. But a sum over k is
// the same in any order, as long as A and B have the same one: so a lane's chunks are taken as they
// are, and need no instruction but the load.

namespace fathom::gemm {

/// Type of the sums.
template <class In>
using StreamedSum = std::conditional_t<std::is_same_v<In, double>, double, float>;

/// Sums of a warp: of half h of the columns the fragment of mma.sync, whose elements 2 i and 2 i +
/// 1 are row l / 4 + 8 i, columns 4 (l % 4) + h and 4 (l % 4) + 2 + h of B.
template <class In>
struct StreamedSums {
  StreamedSum<In> of[2][4] = {};
};

/// A lane's two chunks of each of its rows, and of its columns.
struct LaneRows {
  std::uint32_t of[2][2][4];
};
struct LaneColumns {
  std::uint32_t of[2][2][4];
};

/// d += a b of 16 x 8 by 32 bytes of k: a lane's 4 bytes of rows l / 4 and l / 4 + 8 of the first
/// 16 bytes, then of the others (PTX ISA, the fragments of mma.m16n8k8 in tf32).
__device__ inline void multiply_lines(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                      std::uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  (void)d, (void)a, (void)b0, (void)b1;
#endif
}

/// Adds the products of a step in fp64, which needs both chunks: places 4 i + l % 4 of 16 along k
/// are a lane's four neighbours of both its rows, and columns.
__device__ inline void multiply_step(StreamedSums<double>& sums, const LaneRows& a,
                                     const LaneColumns& b) {
  double of_a[8], of_b[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    memcpy(&of_a[2 * i], &a.of[0][i / 2][i % 2 * 2], sizeof(double));
    memcpy(&of_a[2 * i + 1], &a.of[1][i / 2][i % 2 * 2], sizeof(double));
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    memcpy(of_b, b.of[half], sizeof of_b);
    multiply_16x8x16(sums.of[half], of_a, of_b);
  }
}

/// Adds the products of a chunk in tf32.
__device__ inline void multiply_chunk(StreamedSums<float>& sums, const LaneRows& a,
                                      const LaneColumns& b, int chunk) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const std::uint32_t of_a[4] = {a.of[0][chunk][i], a.of[1][chunk][i], a.of[0][chunk][i + 1],
                                   a.of[1][chunk][i + 1]};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      multiply_lines(sums.of[half], of_a, b.of[half][chunk][i], b.of[half][chunk][i + 1]);
  }
}

/// Two neighbours of a line of a matrix that is contiguous along its outer dimension.
template <class In>
struct alignas(2 * sizeof(In)) NeighbouringPair {
  In of[2];
};

/// A lane's chunk of B at `k`, of both its columns: contiguous along k, each column on 16 bytes, or
/// along the columns, of which there are an even number and each line starts on two elements. A
/// column beyond the last is clamped to it, so that loads stay unconditional.
template <class In, Major major>
__device__ inline void hold_chunk(const Matrix<const In>& b, int k, int columns, int lane,
                                  int chunk, LaneColumns& to) {
  if constexpr (major == Major::k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = min(streamed_column(lane, half), columns - 1);
      const uint4 x = *reinterpret_cast<const uint4*>(b.data + column * b.column_stride + k);
      memcpy(to.of[half][chunk], &x, sizeof x);
    }
  } else {
    constexpr int elements = 16 / static_cast<int>(sizeof(In));
    const int column = min(streamed_column(lane, 0), columns - 2);
    const In* const from = b.data + k * b.row_stride + column;
    In x[2][elements];
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      const auto pair = *reinterpret_cast<const NeighbouringPair<In>*>(from + i * b.row_stride);
      x[0][i] = pair.of[0];
      x[1][i] = pair.of[1];
    }
    memcpy(to.of[0][chunk], x[0], 16);
    memcpy(to.of[1][chunk], x[1], 16);
  }
}

}  // namespace fathom::gemm
