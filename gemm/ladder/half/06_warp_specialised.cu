// One warp does nothing but ask TMA for tiles; two warpgroups do nothing but multiply.
//
// A stage has two barriers: "full" ends when its bytes have arrived, "empty" when all eight warps
// have read it. The producer waits for empty stages, the consumers for full ones, and nobody meets
// anybody else. setmaxnreg moves registers from the producer's warpgroup to the consumers'.
//
// 07_wide_tile has a tile of 128 x 256, four stages of 48 KiB, and 128 sums a thread.

#include "gemm/blocks/register_store.cuh"
#include "gemm/blocks/wgmma.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

template <int columns>
constexpr WgmmaConfig config{.n = columns, .stages = columns == 128 ? 6 : 4};
template <int columns>
constexpr LessonTile lesson_tile = tile_of(config<columns>, 2, ring_shared_bytes<config<columns>>,
                                           /*persistent=*/false);

template <class Element, int columns>
__global__ void __launch_bounds__(config<columns>.threads(), 1)
    warp_specialised_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr WgmmaConfig d = config<columns>;
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(4 * d.consumers);
  __syncthreads();
  const int row = static_cast<int>(blockIdx.x) / p.tiles_n * d.m();
  const int column = static_cast<int>(blockIdx.x) % p.tiles_n * d.n;
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int step = 0; step < p.depth; ++step) {
        wait(ring.empty(at.stage), at.parity ^ 1);
        const int k = step * lesson_tile<columns>.k;
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
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const auto release = [&](int stage) {
      if (threadIdx.x % 32 == 0) arrive(ring.empty(stage));
    };
    Sums<d> sums;
    start(sums);
    for (int step = 0, last = 0; step < p.depth; ++step) {
      wait(ring.full(at.stage), at.parity);
      multiply_stage<Element, Major::k, Major::outer>(ring, at.stage, group, sums, step > 0);
      wgmma_wait_group<1>();
      if (step > 0) release(last);
      last = at.stage;
      at.advance();
    }
    wgmma_wait_group<0>();
    fence_accumulators(sums.of[0]);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    store_from_registers(p, sums.of[0], row + warp * 16, column);
  }
#endif
}

}  // namespace

Lesson warp_specialised(bool is_bf16) {
  return half_lesson<warp_specialised_product<__half, 128>,
                     warp_specialised_product<__nv_bfloat16, 128>, lesson_tile<128>, launch_wgmma>(
      is_bf16,
      {.name = "06_warp_specialised",
       .parent = "05_wgmma",
       .idea =
           "A warp of its own issues the loads, and gives most of its registers to two warpgroups "
           "that multiply (setmaxnreg); full and empty barriers are all that they share.",
       .gain = "No warpgroup stops multiplying to issue a load or to wait for the slowest warp: of "
               "a tile's 64 stages of 512 clocks at k = 4096 the tensor cores wait for the first "
               "alone, and for the epilogue."});
}

Lesson wide_tile(bool is_bf16) {
  return half_lesson<warp_specialised_product<__half, 256>,
                     warp_specialised_product<__nv_bfloat16, 256>, lesson_tile<256>, launch_wgmma>(
      is_bf16,
      {.name = "07_wide_tile",
       .parent = "06_warp_specialised",
       .idea = "A tile of 128 x 256: each warpgroup multiplies 64 x 256 at once, with all of its "
               "registers.",
       .gain = "Each element of the tiles is used for 85 multiplications instead of 64, so that a "
               "quarter of the traffic from the L2 goes, and the products read 80 bytes of shared "
               "memory a clock instead of 96."});
}

}  // namespace fathom::gemm::half
