#pragma once

#include <algorithm>

#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"
#include "gemm/ladder/half/half_lesson.cuh"

// How a kernel of wgmma and TMA becomes a lesson. Host code.

namespace fathom::gemm::half {

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

/// The product with its maps: A's boxes are 64 rows by 64 of k, B's 64 of k by 64 columns, C's 16
/// rows by 64 columns. Tiles are a cluster's.
template <class Element>
TiledProduct<Element, float> mapped_product(const Arguments& arguments, const KernelConfig& d) {
  const Problem& q = arguments.problem;
  const auto p = row_major<Element, Element, float>(arguments);
  const auto type = traits(q.of).input;
  TiledProduct<Element, float> product{};
  product.map_a = tensor_map(p.a.data, type, p.k, p.m, p.a.row_stride, block_side);
  product.map_b = tensor_map(p.b.data, type, p.n, p.k, p.b.row_stride, block_side);
  product.map_c = tensor_map(p.c.data, type, p.n, p.m, p.c.row_stride, 16);
  product.m = p.m;
  product.n = p.n;
  product.depth = p.k / stage_depth<Element>;
  product.tiles_m = p.m / (d.m() * d.cluster_m);
  product.tiles_n = p.n / d.n;
  product.end = product.tiles_m * product.tiles_n;
  product.alpha = p.alpha;
  product.beta = p.beta;
  product.c = p.c;
  product.tma_stores = true;
  return product;
}

/// A lesson whose kernel this is: launched with a cluster for each tile or, if `d.persistent`, with
/// as many clusters as the GPU runs at once.
template <class Element, void (*kernel)(TiledProduct<Element, float>), KernelConfig d, int threads,
          int shared_bytes>
Lesson hopper_lesson(const char* name) {
  static constexpr HalfTile tile{d.m() * d.cluster_m, d.n, stage_depth<Element>, threads};
  Lesson lesson;
  lesson.of = std::is_same_v<Element, __half> ? Class::fp16 : Class::bf16;
  lesson.id = std::string(traits(lesson.of).name) + "/" + name;
  lesson.capability = 90;
  lesson.exact_capability = true;
  lesson.kernel = {reinterpret_cast<const void*>(kernel),
                   threads,
                   shared_bytes,
                   d.m(),
                   d.n,
                   stage_depth<Element>,
                   1,
                   d.cluster_m};
  lesson.takes_own_path = [](const Problem& p) { return is_plain(p, tile); };
  lesson.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    if (is_empty(arguments.problem)) return;
    if (!is_plain(arguments.problem, tile)) return launch_half_fallback(arguments, stream);
    const auto product = mapped_product<Element>(arguments, d);
    ClusterLaunch launch{1, threads, shared_bytes, d.cluster_m, stream};
    int clusters = product.end;
    if constexpr (d.persistent) {
      static const int resident = needed_clusters(kernel, launch);
      clusters = std::min(clusters, resident);
    }
    launch.blocks = clusters * d.cluster_m;
    launch_cluster(kernel, launch, product);
  };
  return lesson;
}

}  // namespace fathom::gemm::half
