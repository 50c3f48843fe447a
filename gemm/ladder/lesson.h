#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "gemm/rung.h"

// What a lesson is to the rest of gemm: the product as its kernel gets it, what the kernel is made
// for, and how it becomes a rung.

namespace fathom::gemm {

/// C (m x n) = alpha A (m x k) B (k x n) + beta C. A leading dimension is the distance of two rows
/// where matrices are row-major, and of two columns where they are column-major.
struct LessonProduct {
  int m, n, k;
  float alpha, beta;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
  bool a_transposed, b_transposed;  ///< never, but in the fallback
};

using LessonKernel = void (*)(LessonProduct);

/// How a lesson looks at the matrices of a product (gemm/problem.h), and in which direction
/// blockIdx.x counts its tiles.
enum class View { row_major, row_major_x_along_rows, column_major };

/// What a lesson's kernel is made for. Everything else goes to the fallback: transposes, alpha = 0,
/// k = 0, and sizes that its tiles do not cover.
struct LessonTile {
  int m, n, k;           ///< a block's tile; k: a step
  int threads;           ///< of a block
  bool any_size = false; ///< the kernel checks its indices
  bool vectors = false;  ///< 16-byte accesses: leading dimensions must be multiples of four
};

/// Whether the lesson's own kernel computes the product.
bool is_plain(const Problem& problem, View view, const LessonTile& tile);

/// Launches the lesson's kernel if the product is plain, and the fallback otherwise.
void launch_lesson(const Arguments& arguments, cudaStream_t stream, View view, LessonKernel kernel,
                   const LessonTile& tile);

/// Computes any product, with every index checked.
void launch_fallback(const Arguments& arguments, cudaStream_t stream);

/// The launch itself: on the GPU, or by tests/host on the CPU.
void launch_blocks(LessonKernel kernel, dim3 grid, int threads, const LessonProduct& product,
                   cudaStream_t stream);

/// A rung that goes on from another: gains are against that one.
struct Lesson : Rung {
  std::string parent;  ///< its id; empty: the first of its tree
};

/// The lesson of this id; null if that is no lesson's.
const Lesson* find_lesson(const std::string& id);

/// A lesson whose kernel this is; its file adds the name, the parent and the words.
template <LessonKernel kernel, View view, LessonTile tile>
Lesson make_lesson() {
  Lesson lesson;
  lesson.of = Class::fp32;
  lesson.kernel = {reinterpret_cast<const void*>(kernel), tile.threads, 0, tile.m, tile.n, tile.k};
  lesson.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    launch_lesson(arguments, stream, view, kernel, tile);
  };
  lesson.takes_own_path = [](const Problem& p) { return is_plain(p, view, tile); };
  return lesson;
}

}  // namespace fathom::gemm
