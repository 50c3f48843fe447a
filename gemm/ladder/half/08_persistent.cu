// One block an SM goes from tile to tile, in bands of 16 tile rows: the producer runs ahead into
// the next tile while the consumers store the last one.

#include "gemm/blocks/register_store.cuh"
#include "gemm/blocks/wgmma.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

constexpr WgmmaConfig d{.n = 256, .stages = 4};
constexpr LessonTile lesson_tile = tile_of(d, 2, ring_shared_bytes<d>, /*persistent=*/true);

template <class Element>
__global__ void __launch_bounds__(d.threads(), 1)
    persistent_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(4 * d.consumers);
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x), stride = static_cast<int>(gridDim.x);
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int next = first; next < p.end; next += stride) {
        const TileIndex tile = banded_tile<16>(next, p.tiles_m, p.tiles_n);
        for (int step = 0; step < p.depth; ++step) {
          wait(ring.empty(at.stage), at.parity ^ 1);
          const int row = tile.m * d.m(), column = tile.n * d.n, k = step * lesson_tile.k;
          arrive_expect_tx(ring.full(at.stage), d.stage_bytes());
#pragma unroll
          for (int i = 0; i < d.m(); i += 64)
            load_box(ring.a(at.stage) + i * 128, p.map_a, k, row + i, ring.full(at.stage));
#pragma unroll
          for (int j = 0; j < d.n; j += 64)
            load_box(ring.b(at.stage) + j * 128, p.map_b, column + j, k, ring.full(at.stage));
          at.advance();
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const auto release = [&](int stage) {
      if (threadIdx.x % 32 == 0) arrive(ring.empty(stage));
    };
    const int warp = static_cast<int>(threadIdx.x) / 32;
    Sums<d> sums;
    start(sums);
    for (int next = first; next < p.end; next += stride) {
      const TileIndex tile = banded_tile<16>(next, p.tiles_m, p.tiles_n);
      int last = 0;
      for (int step = 0; step < p.depth; ++step) {
        wait(ring.full(at.stage), at.parity);
        multiply_stage<Element, Major::k, Major::outer>(ring, at.stage, group, sums, step > 0);
        wgmma_wait_group<1>();
        if (step > 0) release(last);
        last = at.stage;
        at.advance();
      }
      wgmma_wait_group<0>();
      fence_accumulators(sums.of[0]);
      release(last);
      store_from_registers(p, sums.of[0], tile.m * d.m() + warp * 16, tile.n * d.n);
    }
  }
#endif
}

}  // namespace

Lesson persistent(bool is_bf16) {
  return half_lesson<persistent_product<__half>, persistent_product<__nv_bfloat16>, lesson_tile,
                     launch_wgmma>(
      is_bf16,
      {.name = "08_persistent",
       .parent = "07_wide_tile",
       .idea = "One block an SM goes from tile to tile, in bands of 16 tile rows: blocks that "
               "run at the same time form nearly a square of C.",
       .gain = "The ring fills with the next tile while the last one is stored: at 4096³ "
               "three of an SM's four tiles begin without a wait. 132 tiles at a time need 4160 "
               "rows and columns of the operands instead of 5152, and at 8192³ instead of "
               "8720: less traffic from the L2 and beyond, fewer joules."});
}

}  // namespace fathom::gemm::half
