#pragma once

#include "gemm/ladder/simt_lesson.h"

// The steps that are the same in several lessons of fp32 and fp64. No lesson's loop is in here. All
// of it also compiles as C++, where tests/host runs the kernels on the CPU.

namespace fathom::gemm {

/// An element of C from its sum. With beta = 0 the old one is not read: it may be NaN.
template <class T>
__device__ inline void store_element(const LessonProductOf<T>& p, T* c, T sum) {
  *c = p.beta == T(0) ? p.alpha * sum : fma(p.beta, *c, p.alpha * sum);
}

/// Two doubles that lie side by side, the first on 16 bytes.
__device__ inline void store_vector(const LessonProductOf<double>& p, double* c, double first,
                                    double second) {
  double2* const to = reinterpret_cast<double2*>(c);
  double2 x = make_double2(p.alpha * first, p.alpha * second);
  if (p.beta != 0) {
    const double2 old = *to;
    x.x = fma(p.beta, old.x, x.x);
    x.y = fma(p.beta, old.y, x.y);
  }
  *to = x;
}

/// Four elements of fp32 that lie side by side, the first on 16 bytes.
template <class P>
__device__ inline void store_vector(const P& p, float* c, const float* sum) {
  float4* const to = reinterpret_cast<float4*>(c);
  float4 x = make_float4(p.alpha * sum[0], p.alpha * sum[1], p.alpha * sum[2], p.alpha * sum[3]);
  if (p.beta != 0.0f) {
    const float4 old = *to;
    x.x = fmaf(p.beta, old.x, x.x);
    x.y = fmaf(p.beta, old.y, x.y);
    x.z = fmaf(p.beta, old.z, x.z);
    x.w = fmaf(p.beta, old.w, x.w);
  }
  *to = x;
}

/// A thread's tile of C, whose first element is `c`.
template <int rows, int columns>
__device__ inline void store_elements(const LessonProduct& p, float* c,
                                      const float (&sums)[rows][columns]) {
#pragma unroll
  for (int i = 0; i < rows; ++i) {
#pragma unroll
    for (int j = 0; j < columns; ++j) store_element(p, c + i * p.ldc + j, sums[i][j]);
  }
}

/// The same by 16 bytes.
template <int rows, int columns>
__device__ inline void store_vectors(const LessonProduct& p, float* c,
                                     const float (&sums)[rows][columns]) {
#pragma unroll
  for (int i = 0; i < rows; ++i) {
#pragma unroll
    for (int j = 0; j < columns; j += 4) store_vector(p, c + i * p.ldc + j, &sums[i][j]);
  }
}

/// `count` floats, a multiple of four, into registers by 16 bytes each.
template <int count>
__device__ inline void load_vectors(float* to, const float* from) {
#pragma unroll
  for (int i = 0; i < count; i += 4) {
    const float4 x = *reinterpret_cast<const float4*>(from + i);
    to[i] = x.x, to[i + 1] = x.y, to[i + 2] = x.z, to[i + 3] = x.w;
  }
}

// A tile is `lines` lines of `length` elements, `ld` apart in global and `pitch` apart in shared
// memory. Neighbouring threads take neighbouring elements of it, or neighbouring 16 bytes.

/// This thread's share of a tile, from global memory to registers.
template <int lines, int length, int threads>
__device__ inline void fetch_tile(float (&to)[lines * length / threads], const float* from,
                                  std::int64_t ld) {
  static_assert(lines * length % threads == 0 && threads % length == 0);
  const int thread = static_cast<int>(threadIdx.x);
  from += thread / length * ld + thread % length;
#pragma unroll
  for (int i = 0; i < lines * length / threads; ++i) to[i] = from[i * (threads / length) * ld];
}

/// The same share, from registers to shared memory.
template <int lines, int length, int pitch, int threads>
__device__ inline void put_tile(float* to, const float (&from)[lines * length / threads]) {
  const int thread = static_cast<int>(threadIdx.x);
  to += thread / length * pitch + thread % length;
#pragma unroll
  for (int i = 0; i < lines * length / threads; ++i) to[i * (threads / length) * pitch] = from[i];
}

/// Both.
template <int lines, int length, int pitch, int threads>
__device__ inline void load_tile(float* to, const float* from, std::int64_t ld) {
  float share[lines * length / threads];
  fetch_tile<lines, length, threads>(share, from, ld);
  put_tile<lines, length, pitch, threads>(to, share);
}

/// Copies a tile by 16 bytes.
template <int lines, int length, int pitch, int threads, class T>
__device__ inline void load_tile_vectors(T* to, const T* from, std::int64_t ld) {
  constexpr int width = 16 / sizeof(T), vectors = length / width;  // of a line
  static_assert(lines * vectors % threads == 0 && threads % vectors == 0 && pitch % width == 0);
  const int line = static_cast<int>(threadIdx.x) / vectors;
  const int first = static_cast<int>(threadIdx.x) % vectors * width;
#pragma unroll
  for (int i = 0; i < lines * vectors; i += threads) {
    *reinterpret_cast<float4*>(to + (line + i / vectors) * pitch + first) =
        *reinterpret_cast<const float4*>(from + (line + i / vectors) * ld + first);
  }
}

/// Reads a tile by 16 bytes and stores its transpose: `length` lines of `lines` floats.
template <int lines, int length, int pitch, int threads>
__device__ inline void load_tile_transposed(float* to, const float* from, std::int64_t ld) {
  constexpr int vectors = length / 4;  // of a line
  static_assert(lines * vectors % threads == 0 && threads % vectors == 0);
  const int first = static_cast<int>(threadIdx.x) % vectors * 4;
#pragma unroll
  for (int i = 0; i < lines * vectors; i += threads) {
    const int line = (static_cast<int>(threadIdx.x) + i) / vectors;
    const float4 x = *reinterpret_cast<const float4*>(from + line * ld + first);
    to[(first + 0) * pitch + line] = x.x;
    to[(first + 1) * pitch + line] = x.y;
    to[(first + 2) * pitch + line] = x.z;
    to[(first + 3) * pitch + line] = x.w;
  }
}

/// The same element by element.
template <int lines, int threads, int length, int pitch>
__device__ inline void load_elements_transposed(float (&to)[length][pitch], const float* from,
                                                std::int64_t ld) {
#pragma unroll
  for (int i = 0; i < lines * length / threads; ++i) {
    const int number = static_cast<int>(threadIdx.x) + i * threads;
    const int element = number % length, line = number / length;
    to[element][line] = from[line * ld + element];
  }
}

/// Adds the outer product of a column of A and a row of B, both in registers, to a thread's sums.
template <int rows, int columns, class T>
__device__ inline void outer_product(T (&sums)[rows][columns], const T (&a)[rows],
                                     const T (&b)[columns]) {
#pragma unroll
  for (int i = 0; i < rows; ++i) {
#pragma unroll
    for (int j = 0; j < columns; ++j) sums[i][j] = fma(a[i], b[j], sums[i][j]);
  }
}

}  // namespace fathom::gemm
