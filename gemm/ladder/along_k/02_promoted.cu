// fp8 with sums that keep fp32's bits: the threads add what the tensor cores have added for 128 of
// k.
//
// Added to the parent: a stage's products have registers of their own, 128 columns at a time, and
// are added to the tile's sums in fp32 when they are done. The tensor cores' 14 bits then cut off
// from 128 products alone, not from all of k: the error no longer grows with k but with its root.
//
// What it costs: 128 x 256 additions a stage are 256 of its 1024 clocks for the SM's 128 lanes, and
// a warpgroup that adds has no products under way: only the other's fill the tensor cores then.
// Products of 128 columns read 96 bytes of shared memory a clock instead of 80. It loses 6 % of the
// parent's speed and not that quarter (an H100, 4096³, TN: 1,348 of 1,432 TFLOP/s), since one
// warpgroup mostly adds while the other multiplies; the contender fp8/01_promoted has them take
// turns.

#include "gemm/blocks/wgmma.cuh"
#include "gemm/blocks/wgmma_store.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::along_k {
namespace {

constexpr WgmmaConfig d{.n = 256, .stages = 4, .cluster_m = 2};
constexpr int half = d.n / 2, blocks = d.n / block_side / d.cluster_m;  ///< blocks: of B, loaded
constexpr WgmmaConfig d_half{.n = half};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;
constexpr LessonTile lesson_tile{.m = d.m(),
                                 .n = d.n,
                                 .k = 128,
                                 .threads = d.threads(),
                                 .shared_bytes = ring_shared_bytes<d, staging>,
                                 .cluster_m = d.cluster_m,
                                 .persistent = true};

/// Issues a stage's products of half of B's tile, to sums of their own; commits them as one group.
template <int Count>
__device__ void multiply_half(std::uint32_t tile_a, std::uint32_t tile_b,
                              std::uint32_t (&sums)[Count]) {
  const std::uint64_t a = tile_descriptor<Major::k>(tile_a);
  const std::uint64_t b = tile_descriptor<Major::k>(tile_b);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step)
    multiply<Major::k, Major::k>(__nv_fp8_e4m3{}, sums, a + step * step_units<Major::k>,
                                 b + step * step_units<Major::k>, step > 0);
  wgmma_commit_group();
}

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
          multiply_half(ring.a(at.stage) + group * block_bytes, ring.b(at.stage) + column * 128,
                        stage_sums.of[0]);
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
  Lesson lesson = tensor_lesson<promoted_product, lesson_tile, launch_wgmma>(
      {.name = "along_k/02_promoted",
       .parent = "along_k/01_fast_sums",
       .idea = "The tensor cores add up 128 of k of 128 columns at a time; the threads add "
               "these sums to the tile's, in fp32.",
       .gain = "Bits, not speed: the tensor cores cut off from 128 products instead of all of "
               "k. 256 of a stage's 1024 clocks are additions, under which the other warpgroup "
               "multiplies: a few percent of the parent's speed go.",
       .capability = 90});
  lesson.promoted = true;
  return lesson;
}

}  // namespace fathom::gemm::along_k
