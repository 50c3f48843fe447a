#pragma once

#include <cuda_fp8.h>

#include <type_traits>

#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"
#include "gemm/ladder/lesson.h"

// How a kernel of wgmma and TMA becomes a lesson, whatever its elements are. Host code, but for
// make_ring.

namespace fathom::gemm {

/// Dynamic shared memory: the ring on 1024 bytes, `staging` for C, the barriers.
template <KernelConfig d, int staging = 0>
inline constexpr int ring_shared_bytes =
    1024 + TileRing<d>::bytes + staging + TileRing<d>::barrier_bytes;

/// The ring at the start of dynamic shared memory; its barriers are behind `staging` bytes.
template <KernelConfig d, int staging = 0>
__device__ inline TileRing<d> make_ring(const std::byte* shared) {
  TileRing<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  ring.barriers = ring.tiles + TileRing<d>::bytes + staging;
  return ring;
}

/// The type of a product of these elements.
template <class In>
inline constexpr Class class_of_elements = std::is_same_v<In, __half>          ? Class::fp16
                                           : std::is_same_v<In, __nv_bfloat16> ? Class::bf16
                                           : std::is_same_v<In, float>         ? Class::tf32
                                           : std::is_same_v<In, __nv_fp8_e4m3> ? Class::fp8
                                                                               : Class::int8;

/// The second operand of lessons lies across k, as in BLAS's NN, where wgmma takes that: 16-bit
/// elements. Others lie along k, as in BLAS's TN.
template <class In>
inline constexpr bool second_along_k = sizeof(In) != 2;
template <class In>
inline constexpr Transpose lesson_transa = second_along_k<In> ? Transpose::yes : Transpose::no;

template <class P>
P product_of(void (*kernel)(P));

/// The product with its maps. A box has 64 lines of 128 bytes: of A along k; of B along k too, or
/// along n. Of C it has 16. Tiles are a cluster's.
template <class In, class Out, class Scalar>
void map_product(TiledProduct<Out, Scalar>& product, const Arguments& arguments,
                 const KernelConfig& d) {
  const ClassTraits& types = traits(arguments.problem.of);
  const auto p = row_major<In, Out, Scalar>(arguments);
  product.map_a = tensor_map(p.a.data, types.input, p.k, p.m, p.a.row_stride, block_side);
  product.map_b = second_along_k<In>
                      ? tensor_map(p.b.data, types.input, p.k, p.n, p.b.column_stride, block_side)
                      : tensor_map(p.b.data, types.input, p.n, p.k, p.b.row_stride, block_side);
  product.map_c = tensor_map(p.c.data, types.output, p.n, p.m, p.c.row_stride, 16);
  product.m = p.m;
  product.n = p.n;
  product.depth = p.k / stage_depth<In>;
  product.tiles_m = p.m / (d.m() * d.cluster_m);
  product.tiles_n = p.n / d.n;
  product.end = product.tiles_m * product.tiles_n;
  product.alpha = p.alpha;
  product.beta = p.beta;
  product.c = p.c;
  product.tma_stores = true;
}

/// A lesson whose kernel this is: launched with a cluster for each tile or, if `d.persistent`, with
/// as many clusters as the GPU runs at once.
template <class In, auto kernel, KernelConfig d, int shared_bytes = ring_shared_bytes<d>,
          int threads = d.threads()>
Lesson hopper_lesson(const LessonText& text) {
  static constexpr auto is_own = [](const Problem& p) {
    return is_plain(p, lesson_transa<In>, d.m() * d.cluster_m, d.n, stage_depth<In>);
  };
  Lesson lesson = lesson_of(class_of_elements<In>, 90, text);
  lesson.exact_capability = true;
  lesson.kernel = {reinterpret_cast<const void*>(kernel),
                   threads,
                   shared_bytes,
                   d.m(),
                   d.n,
                   stage_depth<In>,
                   1,
                   d.cluster_m};
  lesson.takes_own_path = is_own;
  lesson.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    if (!is_own(arguments.problem)) return launch_fallback(arguments, stream);
    decltype(product_of(kernel)) product{};
    map_product<In>(product, arguments, d);
    launch_scheduled<kernel, d>(product, {1, threads, shared_bytes, d.cluster_m, stream});
  };
  return lesson;
}

}  // namespace fathom::gemm
