#pragma once

#include <cstdint>
#ifdef __CUDACC__
#include "gemm/blocks/async_copy.cuh"
#endif

// Tiles of fp32 on their way to shared memory past the registers (cp.async). Compiled as C++ a copy
// is done at once, and nobody has to wait for it.

namespace fathom::gemm {

/// One copy of an element, or of 16 bytes.
template <class Word>
__device__ inline void copy_async(float* to, const float* from) {
#ifdef __CUDACC__
  async_copy<sizeof(Word)>(shared_address(to), from);
#else
  *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(from);
#endif
}

/// Ends a group of copies; an empty group is done at once.
__device__ inline void end_copies() {
#ifdef __CUDACC__
  async_commit();
#endif
}

/// Waits until at most `pending` of this thread's newest groups are under way.
template <int pending>
__device__ inline void wait_copies() {
#ifdef __CUDACC__
  async_wait<pending>();
#endif
}

/// Copies a tile by 16 bytes.
template <int lines, int length, int pitch, int threads>
__device__ inline void copy_tile_vectors(float* to, const float* from, std::int64_t ld) {
  constexpr int vectors = length / 4;  // of a line
  static_assert(lines * vectors % threads == 0 && threads % vectors == 0 && pitch % 4 == 0);
  const int line = static_cast<int>(threadIdx.x) / vectors;
  const int first = static_cast<int>(threadIdx.x) % vectors * 4;
#pragma unroll
  for (int i = 0; i < lines; i += threads / vectors)
    copy_async<float4>(to + (line + i) * pitch + first, from + (line + i) * ld + first);
}

/// Copies a tile element by element to its transpose: `length` lines of `lines` floats.
template <int lines, int length, int pitch, int threads>
__device__ inline void copy_tile_transposed(float* to, const float* from, std::int64_t ld) {
  static_assert(lines * length % threads == 0 && threads % length == 0);
  const int line = static_cast<int>(threadIdx.x) / length;
  const int first = static_cast<int>(threadIdx.x) % length;
#pragma unroll
  for (int i = 0; i < lines; i += threads / length)
    copy_async<float>(to + first * pitch + line + i, from + (line + i) * ld + first);
}

}  // namespace fathom::gemm
