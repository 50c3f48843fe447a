// fp8 with sums that keep fp32's bits: threads add what the tensor cores have added for 128 of k.
//
// A stage's products have registers of their own, 128 columns at a time. The error no longer grows
// with k but with its root. Products of 128 columns read 96 bytes of shared memory a clock instead
// of 80. It loses 6 % of the parent's speed and not the quarter that additions take (an H100,
// 4096³, TN: 1,348 of 1,432 TFLOP/s), since one warpgroup mostly adds while the other multiplies;
// the contender fp8/01_promoted has them take turns.

#include "gemm/blocks/wgmma.cuh"
#include "gemm/blocks/wgmma_store.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::along_k {
namespace {

constexpr WgmmaConfig d{.n = 256, .stages = 4, .cluster_m = 2};
constexpr int half = d.n / 2, blocks = d.n / block_side / d.cluster_m;  ///< blocks: of B, loaded
constexpr WgmmaConfig d_half{.n = half};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;
constexpr LessonTile lesson_tile =
    tile_of(d, 1, ring_shared_bytes<d, staging>, /*persistent=*/true);

__global__ void __launch_bounds__(d.threads(), 1)
    promoted_product(const __grid_constant__ TiledProduct<__nv_bfloat16, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d, staging>(shared);
  const ClusterPlace<d> place;
  if (threadIdx.x == 0) ring.init(4 * d.consumers * d.cluster_m);
  cluster_sync();
  const int first = static_cast<int>(blockIdx.x) / d.cluster_m;
  const int stride = static_cast<int>(gridDim.x) / d.cluster_m;
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int next = first; next < p.end; next += stride) {
        const TileIndex tile = banded_tile<8>(next, p.tiles_m, p.tiles_n);
        for (int step = 0; step < p.depth; ++step) {
          wait(ring.empty(at.stage), at.parity ^ 1);
          const int row = (tile.m * d.cluster_m + place.m) * d.m(), column = tile.n * d.n;
          const int k = step * lesson_tile.k;
          arrive_expect_tx(ring.full(at.stage), d.stage_bytes());
          const std::uint16_t both = place.column();
#pragma unroll
          for (int i = 0; i < d.m(); i += 64)
            load_box(ring.a(at.stage) + i * 128, p.map_a, k, row + i, ring.full(at.stage));
#pragma unroll
          for (int i = 0; i < blocks; ++i) {
            const int block = place.m * blocks + i, x = column + block * block_side;
            load_box_multicast(ring.b(at.stage) + block * block_bytes, p.map_b, k, x,
                               ring.full(at.stage), both);
          }
          at.advance();
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const std::uint32_t buffers = ring.tiles + TileRing<d>::bytes + warp * warp_staging;
    std::uint32_t sums[d.n / 2];
    Sums<d_half> stage_sums;
    start(stage_sums);
    for (int next = first; next < p.end; next += stride) {
      const TileIndex tile = banded_tile<8>(next, p.tiles_m, p.tiles_n);
#pragma unroll
      for (std::uint32_t& sum : sums) sum = 0;
      for (int step = 0; step < p.depth; ++step) {
        wait(ring.full(at.stage), at.parity);
#pragma unroll
        for (int column = 0; column < d.n; column += half) {
          multiply_stage<__nv_fp8_e4m3, Major::k, Major::k>(ring, at.stage, group, stage_sums,
                                                            /*add=*/false, column);
          wgmma_wait_group<0>();
          if (column + half == d.n) release(ring, at.stage, place);
          fence_accumulators(stage_sums.of[0]);
#pragma unroll
          for (int i = 0; i < half / 2; ++i) {
            std::uint32_t& sum = sums[column / 2 + i];
            sum = bits_of(sum_of<float>(sum) + sum_of<float>(stage_sums.of[0][i]));
          }
        }
        at.advance();
      }
      const int row = (tile.m * d.cluster_m + place.m) * d.m() + warp * 16, column = tile.n * d.n;
      finish(p, sums, row, column);
      store_by_tma(p, sums, row, column, buffers);
    }
    wait_stores();
  }
  cluster_sync();
#endif
}

}  // namespace

Lesson promoted() {
  return tensor_lesson<promoted_product, lesson_tile, launch_wgmma>(
      {.name = "along_k/02_promoted",
       .parent = "along_k/01_fast_sums",
       .idea = "The tensor cores add up 128 of k of 128 columns at a time; the threads add "
               "these sums to the tile's, in fp32.",
       .gain = "Bits, not speed: the tensor cores cut off from 128 products instead of all of "
               "k. 256 of a stage's 1024 clocks are additions, under which the other warpgroup "
               "multiplies: a few percent of the parent's speed go.",
       .promoted = true});
}

}  // namespace fathom::gemm::along_k
