// Blocks that stay, in pairs that share what both need.
//
// A cluster of two blocks has two tiles beside each other. Both need the same rows of A: each asks
// for one half of them, and TMA puts it into the shared memory of both. A stage is free when the
// warps of both blocks have read it. One block an SM goes from tile to tile, in bands of 8 tile
// rows: the ring fills with the next tile while the last one is stored.

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::fp64 {
namespace {

constexpr KernelConfig d{.cluster_n = 2};
/// In row-major terms; a KernelConfig is in BLAS's.
constexpr LessonTile lesson_tile{.m = d.n(),
                                 .n = d.m(),
                                 .k = stage_depth,
                                 .threads = d.threads(),
                                 .shared_bytes = ring_shared_bytes<d>,
                                 .cluster_m = d.cluster_n,
                                 .persistent = true};

__global__ void __launch_bounds__(d.threads(), 1)
    multicast_product(const __grid_constant__ DmmaProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(d.reading_warps());
  cluster_sync();
  const int first = static_cast<int>(blockIdx.x) / d.cluster_n;
  const int rank = static_cast<int>(blockIdx.x) % d.cluster_n;
  const int tiles = p.tiles_m * p.tiles_n;
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.warps() / 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int tile = first; tile < tiles; tile += p.workers) {
        const TileIndex corner = corner_of<d>(p, tile, rank);
        for (int step = 0; step < p.depth; ++step) {
          wait(ring.empty(at.stage), at.parity ^ 1);
          load_stage<d, Major::outer, Major::k>(p, ring, at.stage, rank, corner.m, corner.n,
                                                step * stage_depth);
          at.advance();
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const WarpPlace<d, Major::outer, Major::k> place(false, false);
    for (int tile = first; tile < tiles; tile += p.workers) {
      WarpSums<d> sums;
      sums.clear();
      for (int step = 0; step < p.depth; ++step) {
        double a[2][8], b[d.n_blocks][4];
        wait(ring.full(at.stage), at.parity);
#pragma unroll
        for (int j = 0; j < d.n_blocks; ++j) place.b.load(ring.b(at.stage), j, b[j]);
        place.a.load(ring.a(at.stage), 0, a[0]);
#pragma unroll
        for (int i = 0; i < d.m_blocks; ++i) {
          if (i + 1 < d.m_blocks) place.a.load(ring.a(at.stage), i + 1, a[(i + 1) % 2]);
#pragma unroll
          for (int j = 0; j < d.n_blocks; ++j) multiply_16x8x16(sums.of[i][j], a[i % 2], b[j]);
        }
        release(ring, at.stage);
        at.advance();
      }
      store<d, Major::outer, Major::k>(p, sums, corner_of<d>(p, tile, rank));
    }
  }
  cluster_sync();  // no block ends while the other may still arrive at its barriers
#endif
}

}  // namespace

Lesson cluster_multicast() {
  return tensor_lesson<multicast_product, lesson_tile, launch_dmma>(
      {.name = "06_cluster_multicast",
       .parent = "05_tma",
       .idea = "One block an SM goes from tile to tile, in bands of 8 tile rows; of two blocks "
               "side by side each loads half of A's tile for both.",
       .gain = "The ring fills with the next tile while the last one is stored, and a block takes "
               "12 bytes a clock from the L2 instead of 16: fewer joules, where the power limit "
               "holds the clock down."});
}

}  // namespace fathom::gemm::fp64
