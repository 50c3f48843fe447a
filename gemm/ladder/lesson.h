#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "gemm/bench/rung.h"

struct __half;
struct __nv_bfloat16;

// What a lesson is to the rest of gemm: the product as its kernel gets it, what the kernel is made
// for, and how it becomes a rung.

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

/// How a lesson looks at the matrices of a product (gemm/bench/problem.h), and in which direction
/// blockIdx.x counts its tiles.
enum class View { row_major, row_major_x_along_rows, column_major };

/// What a lesson's kernel is made for. Everything else goes to the fallback: transposes, alpha = 0,
/// k = 0, and sizes that its tiles do not cover.
struct LessonTile {
  int m, n, k;            ///< a block's tile; k: a step
  int threads;            ///< of a block
  bool any_size = false;  ///< the kernel checks its indices
  bool vectors = false;   ///< 16-byte accesses: leading dimensions must be multiples of four
};

/// Whether the lesson's own kernel computes the product.
bool is_plain(const Problem& problem, View view, const LessonTile& tile);

/// Whether a product is whole tiles, in row-major terms, of matrices whose lines start on 16 bytes:
/// what lessons for tensor cores are made for. A lies as `transa` says, B is not transposed.
bool is_plain(const Problem& problem, Transpose transa, int tile_m, int tile_n, int tile_k);

/// Launches the lesson's kernel if the product is plain, and the fallback otherwise. Of float and
/// double.
template <class T>
void launch_lesson(const Arguments& arguments, cudaStream_t stream, View view,
                   LessonKernel<T> kernel, const LessonTile& tile);

/// Computes any product, with every index checked.
void launch_fallback(const Arguments& arguments, cudaStream_t stream);

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

/// A rung that goes on from another: gains are against that one.
struct Lesson : Rung {
  const char* parent = "";  ///< the name of one of the same type; empty: the first of its tree
  std::string parent_id() const;  ///< empty as well
};

/// What a lesson's file says of its kernel, each as in Rung.
struct LessonText {
  const char* name;
  const char* parent = "";
  const char* idea;
  const char* gain;
  std::vector<const char*> claims{};
  int capability = 0;  ///< where it is more than the type's
};
/// A lesson without a kernel yet.
Lesson lesson_of(Class of, int capability, const LessonText& text);

/// The lessons of a type, parents before children. A lesson is a function of its file, declared
/// where these list it.
std::vector<Lesson> lessons_of(Class of);
std::vector<Lesson> fp32_lessons();
std::vector<Lesson> all_lessons();
/// The lesson of this id; null if that is no lesson's.
const Lesson* find_lesson(const std::string& id);

constexpr Class class_of(LessonKernel<float>) { return Class::fp32; }
constexpr Class class_of(LessonKernel<double>) { return Class::fp64; }

/// A lesson whose kernel this is.
template <auto kernel, View view, LessonTile tile>
Lesson make_lesson(const LessonText& text) {
  Lesson lesson = lesson_of(class_of(kernel), 75, text);
  lesson.kernel = {reinterpret_cast<const void*>(kernel), tile.threads, 0, tile.m, tile.n, tile.k};
  lesson.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    launch_lesson(arguments, stream, view, kernel, tile);
  };
  lesson.takes_own_path = [](const Problem& p) { return is_plain(p, view, tile); };
  return lesson;
}

/// fp16's lesson or bf16's, as `make` makes it for the type of the elements.
template <class Make>
Lesson of_16_bits(Class of, const Make& make) {
  return of == Class::fp16 ? make(std::type_identity<__half>{})
                           : make(std::type_identity<__nv_bfloat16>{});
}

}  // namespace fathom::gemm
