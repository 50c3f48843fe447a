// TMA fills a ring of stages that one thread asks for, and eight warps do nothing but multiply: no
// fetch stands between products any more.
//
// Seen as BLAS has it, A lies along m and B along k. TMA swizzles: word w of 16 bytes of line l
// lies at w ^ (l % 8). The products add over k in any order, so that a lane takes the k whose words
// are a pair: every read has 16 bytes and no conflict (gemm/blocks/dmma.cuh). A stage of 16
// k takes a warp 12 KiB of shared memory and 16 products of 64 clocks each; while one warp waits
// for its fragments, the other of its quarter of the SM multiplies.

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::fp64 {
namespace {

constexpr KernelConfig d{};
/// In row-major terms; a KernelConfig is in BLAS's.
constexpr LessonTile lesson_tile{.m = d.n(),
                                 .n = d.m(),
                                 .k = stage_depth,
                                 .threads = d.threads(),
                                 .shared_bytes = ring_shared_bytes<d>};

__global__ void __launch_bounds__(d.threads(), 1)
    tma_lesson_product(const __grid_constant__ DmmaProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(d.reading_warps());
  __syncthreads();
  const TileIndex corner = {static_cast<int>(blockIdx.x) % p.tiles_m * d.m(),
                            static_cast<int>(blockIdx.x) / p.tiles_m * d.n()};
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.warps() / 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int step = 0; step < p.depth; ++step) {
        wait(ring.empty(at.stage), at.parity ^ 1);
        load_stage<d, Major::outer, Major::k>(p, ring, at.stage, 0, corner.m, corner.n,
                                              step * stage_depth);
        at.advance();
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const WarpPlace<d, Major::outer, Major::k> place(false, false);
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
    store<d, Major::outer, Major::k>(p, sums, corner);
  }
#endif
}

}  // namespace

Lesson tma() {
  return tensor_lesson<tma_lesson_product, lesson_tile, launch_dmma>(
      {.name = "05_tma",
       .parent = "04_wide_products",
       .idea = "One thread asks TMA for stages of 16 of k, six ahead; eight warps read fragments, "
               "16 bytes at a time, from swizzled lines, and multiply.",
       .gain = "Neither loads nor barriers of the block stand between products: 48 bytes of shared "
               "memory a clock feed 128 multiplications, and the tensor cores wait for the first "
               "stage and the last store of a tile only."});
}

}  // namespace fathom::gemm::fp64
