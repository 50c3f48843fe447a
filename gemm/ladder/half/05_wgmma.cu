// wgmma: a warpgroup's asynchronous products, straight from tiles that TMA puts into shared memory.
//
// One thread asks TMA for a stage of 64 of k, 128 rows and 128 columns, and a barrier that counts
// bytes says when it is there. Four warps multiply 128 x 128 from it; no register sees an operand.
// A step's products are under way while the next are issued; then thread 0 refills their stage.

#include "gemm/blocks/register_store.cuh"
#include "gemm/blocks/wgmma.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

/// Two blocks an SM, each with a ring of 96 KiB.
constexpr WgmmaConfig d{.consumers = 1, .m_blocks = 2, .n = 128, .stages = 3};
constexpr LessonTile lesson_tile{
    .m = d.m(), .n = d.n, .k = 64, .threads = 128, .shared_bytes = ring_shared_bytes<d>};

template <class Element>
__global__ void __launch_bounds__(lesson_tile.threads, 2)
    wgmma_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(1);
  __syncthreads();
  const int row = static_cast<int>(blockIdx.x) / p.tiles_n * d.m();
  const int column = static_cast<int>(blockIdx.x) % p.tiles_n * d.n;
  const auto load = [&](int step) {
    const int stage = step % d.stages, k = step * lesson_tile.k;
    arrive_expect_tx(ring.full(stage), d.stage_bytes());
#pragma unroll
    for (int i = 0; i < d.m(); i += 64)
      load_box(ring.a(stage) + i * 128, p.map_a, k, row + i, ring.full(stage));
#pragma unroll
    for (int j = 0; j < d.n; j += 64)
      load_box(ring.b(stage) + j * 128, p.map_b, column + j, k, ring.full(stage));
  };
  if (threadIdx.x == 0) {
    for (int step = 0; step < min(d.stages, p.depth); ++step) load(step);
  }
  __syncwarp();
  Sums<d> sums;
  start(sums);
  for (int step = 0; step < p.depth; ++step) {
    wait(ring.full(step % d.stages), step / d.stages % 2);
    multiply_stage<Element, Major::k, Major::outer>(ring, step % d.stages, 0, sums, step > 0);
    wgmma_wait_group<1>();  // this warp's products of the step before are done
    __syncthreads();        // and those of all
    const int next = step - 1 + d.stages;
    if (threadIdx.x == 0 && step > 0 && next < p.depth) load(next);
    __syncwarp();
  }
  wgmma_wait_group<0>();
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) {
    fence_accumulators(sums.of[i]);
    store_from_registers(p, sums.of[i], row + i * 64 + warp * 16, column);
  }
#endif
}

}  // namespace

Lesson wgmma(bool is_bf16) {
  return half_lesson<wgmma_product<__half>, wgmma_product<__nv_bfloat16>, lesson_tile,
                     launch_wgmma>(
      is_bf16,
      {.name = "05_wgmma",
       .parent = "04_multistage",
       .idea = "wgmma: four warps multiply 128 x 128 tiles that TMA puts into shared memory, "
               "swizzled, and that no register sees; barriers that count bytes say when a tile "
               "is there.",
       .gain = "Hopper's tensor cores do 2048 multiplications a clock and SM by wgmma and at "
               "most 1361 by mma.sync (measured by the probe instructions): half as much again. "
               "Neither loads nor ldmatrix take issue slots or registers any more."});
}

}  // namespace fathom::gemm::half
