#pragma once

#include <cstdint>

#include "gemm/ladder/lesson.h"

// How a kernel of fp32 or fp64 without TMA becomes a lesson: what it gets, and how it is launched.

namespace fathom::gemm {

/// C (m x n) = alpha A (m x k) B (k x n) + beta C. A leading dimension is the distance of two rows
/// where matrices are row-major, and of two columns where they are column-major.
template <class T>
struct LessonProductOf {
  int m, n, k;
  T alpha, beta;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
};
using LessonProduct = LessonProductOf<float>;

template <class T>
using LessonKernel = void (*)(LessonProductOf<T>);

/// A kernel with what it is launched with; `call` is the kernel as a function of C++.
struct BlocksLaunch {
  const void* kernel;
  dim3 grid;
  int threads;
  void* product;
  void (*call)(const void* kernel, const void* product);
};

/// The launch itself: on the GPU, or by tests/host on the CPU.
void launch_blocks(const BlocksLaunch& launch, cudaStream_t stream);

template <class P>
void launch_blocks(void (*kernel)(P), dim3 grid, int threads, P product, cudaStream_t stream) {
  const auto call = [](const void* kernel, const void* product) {
    reinterpret_cast<void (*)(P)>(const_cast<void*>(kernel))(*static_cast<const P*>(product));
  };
  launch_blocks({reinterpret_cast<const void*>(kernel), grid, threads, &product, call}, stream);
}

/// A lesson whose kernel this is.
template <auto kernel, Order order, LessonTile tile>
Lesson make_lesson(const RungText& text) {
  return {text, reinterpret_cast<const void*>(kernel), tile, &launch_simt, order};
}

}  // namespace fathom::gemm
