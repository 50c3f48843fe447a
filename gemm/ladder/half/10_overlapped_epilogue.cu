// The tile's results leave while the next tile is multiplied.
//
// A warp has two buffers of 16 rows by 64 columns. stmatrix fills one as 16-bit elements, swizzled,
// and TMA stores it while the warp fills the other; the last stores of a tile are under way while
// the warp goes on to the next tile. Whole lines of C leave instead of pieces of 16 bytes a row,
// and no warp waits for a store: what is left of the epilogue is the conversion.

#include "gemm/blocks/wgmma.cuh"
#include "gemm/blocks/wgmma_store.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

constexpr WgmmaConfig d{.n = 256, .stages = 4, .cluster_m = 2};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;
constexpr int blocks = d.n / block_side / d.cluster_m;  ///< of B's tile: this block's share
constexpr LessonTile lesson_tile{.m = d.m(),
                                 .n = d.n,
                                 .k = 64,
                                 .threads = d.threads(),
                                 .shared_bytes = ring_shared_bytes<d, staging>,
                                 .cluster_m = d.cluster_m,
                                 .persistent = true};

template <class Element>
__global__ void __launch_bounds__(d.threads(), 1)
    overlapped_product(const __grid_constant__ TiledProduct<Element, float> p) {
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
            load_box_multicast(ring.b(at.stage) + block * block_bytes, p.map_b, x, k,
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
    Sums<d> sums;
    start(sums);
    for (int next = first; next < p.end; next += stride) {
      const TileIndex tile = banded_tile<8>(next, p.tiles_m, p.tiles_n);
      int last = 0;
      for (int step = 0; step < p.depth; ++step) {
        wait(ring.full(at.stage), at.parity);
        multiply_stage<Element, d, Major::k, Major::outer>(ring, at.stage, group, sums, step > 0);
        wgmma_wait_group<1>();
        if (step > 0) release(ring, last, place);
        last = at.stage;
        at.advance();
      }
      wgmma_wait_group<0>();
      fence_accumulators(sums.of[0]);
      release(ring, last, place);
      const int row = (tile.m * d.cluster_m + place.m) * d.m() + warp * 16, column = tile.n * d.n;
      finish(p, sums.of[0], row, column);
      store_by_tma(p, sums.of[0], row, column, buffers);
    }
    wait_stores();
  }
  cluster_sync();
#endif
}

}  // namespace

template <class Element>
Lesson overlapped_epilogue() {
  return tensor_lesson<overlapped_product<Element>, lesson_tile, launch_wgmma>(
      {.name = "10_overlapped_epilogue",
       .parent = "09_cluster_multicast",
       .idea = "Sums go to shared memory by stmatrix, 16 rows by 64 columns at a time, and TMA "
               "stores them while the warp goes on to the next tile.",
       .gain = "Whole lines of C instead of pieces of 16 bytes a row, and no warpgroup waits for "
               "its stores: the epilogue of a tile shrinks to the conversion.",
       .capability = 90});
}
template Lesson overlapped_epilogue<__half>();
template Lesson overlapped_epilogue<__nv_bfloat16>();

}  // namespace fathom::gemm::half
