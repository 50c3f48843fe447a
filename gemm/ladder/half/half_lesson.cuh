#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "gemm/blocks/operands.cuh"
#include "gemm/ladder/lesson.h"
#include "harness/cuda_check.h"

// How a kernel of fp16 and bf16 becomes a lesson. Host code.

namespace fathom::gemm::half {

/// The product in row-major terms; in a lesson's kernel nothing is transposed.
template <class Element>
using HalfProduct = Product<Element, Element, float>;

/// What a lesson's kernel is made for: whole tiles. Everything else goes to the fallback.
struct HalfTile {
  int m, n, k;           ///< a block's tile; k: a step
  int threads;           ///< of a block
  int shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// Warp-level products of 16 x 8 x 16 that the tensor cores do; Turing takes two for each.
inline CounterModel tensor_instructions(const Problem& p, int capability) {
  return {"tensor_instructions", p.flops() / (2 * 16 * 8 * (capability >= 80 ? 16 : 8)),
          "products of 16 x 8 x 16 (Turing: x 8)"};
}

/// A lesson whose kernel this is, a block a tile.
template <class Element, void (*kernel)(HalfProduct<Element>), HalfTile tile>
Lesson half_lesson(const LessonText& text) {
  constexpr bool fp16 = std::is_same_v<Element, __half>;
  Lesson lesson = lesson_of(fp16 ? Class::fp16 : Class::bf16, fp16 ? 75 : 80, text);
  lesson.kernel = {reinterpret_cast<const void*>(kernel),
                   tile.threads,
                   tile.shared_bytes,
                   tile.m,
                   tile.n,
                   tile.k};
  static constexpr auto is_own = [](const Problem& p) {
    return is_plain(p, Transpose::no, tile.m, tile.n, tile.k);
  };
  lesson.takes_own_path = is_own;
  lesson.counters = [](const Problem& p, int capability) {
    return std::vector{tensor_instructions(p, capability)};
  };
  lesson.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    if (!is_own(arguments.problem)) return launch_fallback(arguments, stream);
    const HalfProduct<Element> p = row_major<Element, Element, float>(arguments);
    FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     tile.shared_bytes));
    kernel<<<TileGrid(p.m, p.n, tile.m, tile.n).blocks(), tile.threads, tile.shared_bytes,
             stream>>>(p);
    FATHOM_CUDA(cudaGetLastError());
  };
  return lesson;
}

}  // namespace fathom::gemm::half
