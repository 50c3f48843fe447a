// How the lessons for tensor cores get their product: views or tensor maps, and a launch. Host
// code.

#include <algorithm>

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/tma_product.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm {
namespace {

/// A cluster a tile or, for a persistent kernel, as many as the GPU runs at once.
ClusterLaunch cluster_launch(const LessonTile& tile, cudaStream_t stream = nullptr) {
  return {1, tile.threads, tile.shared_bytes, tile.cluster_m, stream};
}

void launch(const void* kernel, ClusterLaunch launch, int clusters, void* product) {
  launch.blocks = clusters * launch.cluster;
  with_launch_config(kernel, launch, [&](const cudaLaunchConfig_t& config) {
    FATHOM_CUDA(cudaLaunchKernelExC(&config, kernel, &product));
  });
}

}  // namespace

int clusters_at_once(const void* kernel, const LessonTile& tile) {
  return tile.persistent ? needed_clusters(kernel, cluster_launch(tile)) : 0;
}

void launch_half(const void* kernel, const LessonTile& tile, int, const Arguments& arguments,
                 cudaStream_t stream) {
  auto product = row_major<std::uint16_t, std::uint16_t, float>(arguments);
  const TileGrid grid(product.m, product.n, tile.m, tile.n);
  launch(kernel, cluster_launch(tile, stream), static_cast<int>(grid.blocks()), &product);
}

void launch_wgmma(const void* kernel, const LessonTile& tile, int clusters,
                  const Arguments& arguments, cudaStream_t stream) {
  const KernelConfig d{.consumers = tile.m / block_side,
                       .n = tile.n,
                       .cluster_m = tile.cluster_m,
                       .tma_stores = true};
  with_types(arguments.problem.of, [&]<class Types>(Types) {
    auto product =
        tiled_product<Types>(arguments, TmaOperands::of(arguments), d, /*swapped=*/false);
    if (clusters > 0) product.step = std::min(product.end, clusters);
    launch(kernel, cluster_launch(tile, stream), product.step, &product);
  });
}

void launch_dmma(const void* kernel, const LessonTile& tile, int clusters,
                 const Arguments& arguments, cudaStream_t stream) {
  using namespace fp64;
  const Problem& q = arguments.problem;
  DmmaProduct p{};
  // As BLAS has it: rows of the product are the tile's columns.
  p.a.of[0] =
      tensor_map(arguments.a, Element::f64, q.m, q.k, q.lda, box_lines<Major::outer>(tile.n));
  p.b.of[0] = tensor_map(arguments.b, Element::f64, q.k, q.n, q.ldb, box_lines<Major::k>(tile.m));
  p.m = static_cast<int>(q.m);
  p.n = static_cast<int>(q.n);
  p.depth = static_cast<int>(q.k / tile.k);
  p.tiles_m = p.m / tile.n;
  p.tiles_n = p.n / (tile.m * tile.cluster_m);
  p.alpha = q.alpha;
  p.beta = q.beta;
  p.c = {static_cast<double*>(arguments.c), 1, q.ldc};
  p.vectors = true;
  p.workers = p.tiles_m * p.tiles_n;
  if (clusters > 0) p.workers = std::min(p.workers, clusters);
  launch(kernel, cluster_launch(tile, stream), p.workers, &p);
}

}  // namespace fathom::gemm
