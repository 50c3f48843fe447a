// How the lessons for tensor cores get their product: views or tensor maps, and a launch. Host
// code.

#include <algorithm>

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/wgmma.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm {
namespace {

/// A cluster a tile or, for a persistent kernel, as many as the GPU runs at once.
ClusterLaunch cluster_launch(const LessonTile& tile, cudaStream_t stream = nullptr) {
  return {1, tile.threads, tile.shared_bytes, tile.cluster_m * tile.cluster_n, stream};
}

void launch(const void* kernel, ClusterLaunch launch, int clusters, void* product) {
  launch.blocks = clusters * launch.cluster;
  with_launch_config(kernel, launch, [&](const cudaLaunchConfig_t& config) {
    FATHOM_CUDA(cudaLaunchKernelExC(&config, kernel, &product));
  });
}

/// Rows of a tile's boxes of C: those of a warp.
constexpr int c_box_rows = 16;

/// Out has the output's size. A box has 64 lines of 128 bytes: of A along k; of B along k too, or
/// along n, where wgmma takes that: 16-bit elements.
template <class Out, class Scalar>
void launch_tiled(const void* kernel, const LessonTile& tile, int clusters,
                  const Arguments& arguments, cudaStream_t stream) {
  const ClassTraits& types = traits(arguments.problem.of);
  const auto p = row_major<char, Out, Scalar>(arguments);
  TiledProduct<Out, Scalar> product{};
  product.map_a = tensor_map(p.a.data, types.input, p.k, p.m, p.a.row_stride, block_side);
  product.map_b = element_bytes(types.input) == 2
                      ? tensor_map(p.b.data, types.input, p.n, p.k, p.b.row_stride, block_side)
                      : tensor_map(p.b.data, types.input, p.k, p.n, p.b.column_stride, block_side);
  product.map_c = tensor_map(p.c.data, types.output, p.n, p.m, p.c.row_stride, c_box_rows);
  product.m = p.m;
  product.n = p.n;
  product.depth = p.k / tile.k;
  product.tiles_m = p.m / (tile.m * tile.cluster_m);
  product.tiles_n = p.n / tile.n;
  product.end = product.tiles_m * product.tiles_n;
  product.alpha = p.alpha;
  product.beta = p.beta;
  product.c = p.c;
  product.tma_stores = true;
  product.step = clusters == 0 ? product.end : std::min(product.end, clusters);
  launch(kernel, cluster_launch(tile, stream), product.step, &product);
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
  const ClassTraits& types = traits(arguments.problem.of);
  if (types.scalar == Element::s32)
    return launch_tiled<int, int>(kernel, tile, clusters, arguments, stream);
  if (types.output == Element::f32)
    return launch_tiled<float, float>(kernel, tile, clusters, arguments, stream);
  launch_tiled<std::uint16_t, float>(kernel, tile, clusters, arguments, stream);
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
