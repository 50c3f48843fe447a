#pragma once

#include <algorithm>

#include "gemm/best/fp64/warp_sums.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/tensor_map.h"
#include "gemm/ladder/lesson.h"

// How a kernel of DMMA and TMA becomes a lesson. Host code.

namespace fathom::gemm::fp64 {

/// The ring at the start of dynamic shared memory.
template <KernelConfig d>
__device__ inline Ring<d> make_ring(const std::byte* shared) {
  return {(shared_address(shared) + 1023) / 1024 * 1024};
}

/// A lesson whose kernel this is: launched with a cluster for each tile or, `persistent`, with as
/// many as the GPU runs at once.
template <void (*kernel)(DmmaProduct), KernelConfig d, bool persistent>
Lesson tma_lesson(const LessonText& text) {
  static constexpr auto is_own = [](const Problem& p) {
    return is_plain(p, Transpose::no, d.n() * d.cluster_n, d.m(), stage_depth);
  };
  Lesson lesson = lesson_of(Class::fp64, 90, text);
  lesson.exact_capability = true;
  // A KernelConfig is in BLAS's terms, a rung's kernel in row-major ones.
  lesson.kernel = RungKernel{reinterpret_cast<const void*>(kernel),
                             d.threads(),
                             d.shared_bytes(),
                             d.m(),
                             d.n(),
                             stage_depth,
                             1,
                             1,
                             d.cluster_n}
                      .transposed();
  lesson.takes_own_path = is_own;
  lesson.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    const Problem& q = arguments.problem;
    if (!is_own(q)) return launch_fallback(arguments, stream);
    const auto type = traits(q.of).input;
    DmmaProduct p{};
    p.a.of[0] = tensor_map(arguments.a, type, q.m, q.k, q.lda, box_lines<Major::outer>(d.m()));
    p.b.of[0] = tensor_map(arguments.b, type, q.k, q.n, q.ldb, box_lines<Major::k>(d.n()));
    p.m = static_cast<int>(q.m);
    p.n = static_cast<int>(q.n);
    p.depth = static_cast<int>(q.k / stage_depth);
    p.tiles_m = p.m / d.m();
    p.tiles_n = p.n / (d.n() * d.cluster_n);
    p.alpha = q.alpha;
    p.beta = q.beta;
    p.c = {static_cast<double*>(arguments.c), 1, q.ldc};
    p.vectors = true;
    ClusterLaunch launch{1, d.threads(), d.shared_bytes(), d.cluster_n, stream};
    p.workers = p.tiles_m * p.tiles_n;
    if constexpr (persistent) {
      static const int resident = needed_clusters(kernel, launch);
      p.workers = std::min(p.workers, resident);
    }
    launch.blocks = p.workers * d.cluster_n;
    launch_cluster(kernel, launch, p);
  };
  return lesson;
}

}  // namespace fathom::gemm::fp64
