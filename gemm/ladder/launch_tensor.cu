// How lessons are launched, and those for tensor cores get their views or tensor maps. Host code.

#include <algorithm>
#include <map>

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tma_product.cuh"
#include "gemm/ladder/lesson.h"
#include "gemm/ladder/simt_lesson.h"

namespace fathom::gemm {
namespace {

/// A cluster a tile or, of a persistent kernel, at most as many as run at once.
int clusters_for(int tiles, const Lesson& lesson) {
  const LessonTile& tile = lesson.tile;
  if (!tile.persistent) return tiles;
  static std::map<const void*, int> at_once;  // one thread launches
  int& known = at_once[lesson.kernel];
  if (known == 0)
    known = needed_clusters(lesson.kernel, {1, tile.threads, tile.shared_bytes, tile.cluster_m});
  return std::min(tiles, known);
}

void launch(const Lesson& lesson, int clusters, void* product, cudaStream_t stream) {
  const LessonTile& tile = lesson.tile;
  with_launch_config(
      lesson.kernel,
      {clusters * tile.cluster_m, tile.threads, tile.shared_bytes, tile.cluster_m, stream},
      [&](const cudaLaunchConfig_t& config) {
        FATHOM_CUDA(cudaLaunchKernelExC(&config, lesson.kernel, &product));
      });
}

}  // namespace

void launch_blocks(const BlocksLaunch& launch, cudaStream_t stream) {
  void* parameters[] = {launch.product};
  cudaLaunchConfig_t config{};
  config.gridDim = launch.grid;
  config.blockDim = dim3(static_cast<unsigned>(launch.threads));
  config.stream = stream;
  FATHOM_CUDA(cudaLaunchKernelExC(&config, launch.kernel, parameters));
}

void launch_half(const Lesson& lesson, const Arguments& arguments, cudaStream_t stream) {
  auto product = row_major<std::uint16_t, std::uint16_t, float>(arguments);
  const TileGrid grid(product.m, product.n, lesson.tile.m, lesson.tile.n);
  launch(lesson, static_cast<int>(grid.blocks()), &product, stream);
}

void launch_wgmma(const Lesson& lesson, const Arguments& arguments, cudaStream_t stream) {
  const LessonTile& tile = lesson.tile;
  const KernelConfig d{.consumers = tile.m / block_side,
                       .n = tile.n,
                       .cluster_m = tile.cluster_m,
                       .tma_stores = true};
  with_types(arguments.problem.of, [&]<class Types>(Types) {
    auto product =
        tiled_product<Types>(arguments, TmaOperands::of(arguments), d, /*swapped=*/false);
    product.step = clusters_for(product.end, lesson);
    launch(lesson, product.step, &product, stream);
  });
}

void launch_dmma(const Lesson& lesson, const Arguments& arguments, cudaStream_t stream) {
  using namespace fp64;
  const LessonTile& tile = lesson.tile;
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
  p.workers = clusters_for(p.tiles_m * p.tiles_n, lesson);
  launch(lesson, p.workers, &p, stream);
}

}  // namespace fathom::gemm
