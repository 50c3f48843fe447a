// TMA fills a ring of stages that one thread asks for, and eight warps do nothing but multiply: no
// fetch stands between products any more.
//
// Seen as BLAS has it, A lies along m and B along k. TMA swizzles: word w of 16 bytes of line l
// lies at w ^ (l % 8). The products add over k in any order, so that a lane takes the k whose words
// are a pair: every read has 16 bytes and no conflict (gemm/blocks/dmma.cuh). A stage of 16
// k takes a warp 12 KiB of shared memory and 16 products of 64 clocks each; while one warp waits
// for its fragments, the other of its quarter of the SM multiplies.
//
// 06_cluster_multicast is the same kernel in blocks that stay, in pairs with two tiles beside each
// other. Both need the same rows of A: each asks for one half of them, and TMA puts it into the
// shared memory of both. A stage is free when the warps of both blocks have read it.

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::fp64 {
namespace {

template <bool pairs>
constexpr KernelConfig config{.cluster_n = pairs ? 2 : 1};
/// In row-major terms; a KernelConfig is in BLAS's.
template <bool pairs>
constexpr LessonTile lesson_tile{.m = config<pairs>.n(),
                                 .n = config<pairs>.m(),
                                 .k = stage_depth,
                                 .threads = config<pairs>.threads(),
                                 .shared_bytes = ring_shared_bytes<config<pairs>>,
                                 .cluster_m = config<pairs>.cluster_n,
                                 .persistent = pairs};

template <bool pairs>
__global__ void __launch_bounds__(config<pairs>.threads(), 1)
    tma_lesson_product(const __grid_constant__ DmmaProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr KernelConfig d = config<pairs>;
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(d.reading_warps());
  if constexpr (pairs) {
    cluster_sync();
  } else {
    __syncthreads();
  }
  const int first = static_cast<int>(blockIdx.x) / d.cluster_n;
  const int rank = static_cast<int>(blockIdx.x) % d.cluster_n;
  // One tile a block, or one after the other, in bands of 8 tile rows.
  const int end = pairs ? p.tiles_m * p.tiles_n : first + 1, stride = pairs ? p.workers : 1;
  const TileIndex alone{first % p.tiles_m * d.m(), first / p.tiles_m * d.n()};
  const auto corner_at = [&](int tile) { return pairs ? corner_of<d>(p, tile, rank) : alone; };
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.warps() / 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int tile = first; tile < end; tile += stride) {
        const TileIndex corner = corner_at(tile);
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
    for (int tile = first; tile < end; tile += stride) {
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
      store<d, Major::outer, Major::k>(p, sums, corner_at(tile));
    }
  }
  if constexpr (pairs) cluster_sync();  // the other block may still arrive at this one's barriers
#endif
}

}  // namespace

Lesson tma() {
  return tensor_lesson<tma_lesson_product<false>, lesson_tile<false>, launch_dmma>(
      {.name = "05_tma",
       .parent = "04_wide_products",
       .idea = "One thread asks TMA for stages of 16 of k, six ahead; eight warps read fragments, "
               "16 bytes at a time, from swizzled lines, and multiply.",
       .gain = "Neither loads nor barriers of the block stand between products: 48 bytes of shared "
               "memory a clock feed 128 multiplications, and the tensor cores wait for the first "
               "stage and the last store of a tile only."});
}

Lesson cluster_multicast() {
  return tensor_lesson<tma_lesson_product<true>, lesson_tile<true>, launch_dmma>(
      {.name = "06_cluster_multicast",
       .parent = "05_tma",
       .idea = "One block an SM goes from tile to tile, in bands of 8 tile rows; of two blocks "
               "side by side each loads half of A's tile for both.",
       .gain = "The ring fills with the next tile while the last one is stored, and a block takes "
               "12 bytes a clock from the L2 instead of 16: fewer joules, where the power limit "
               "holds the clock down."});
}

}  // namespace fathom::gemm::fp64
