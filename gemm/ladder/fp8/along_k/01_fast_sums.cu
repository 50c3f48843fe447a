// fp8 at the tensor cores' full rate, with the bits that they keep of sums.
//
// The loop is that of half/10_overlapped_epilogue, which this goes on from. A line of 128 bytes is
// 128 of k, a wgmma takes 32 of it, and a stage of 128 x 256 x 128 takes the same 1024 clocks as
// one of 64 of 16 bits: 4096 multiplications a clock and SM, twice fp16's rate, from half of the
// bytes for an operand. Both operands must lie along k, since wgmma turns 16-bit elements alone.
//
// What it costs: Hopper's tensor cores keep 14 bits of a sum of fp8 products, not fp32's 24, and
// cut off what an addition pushes out. The error of a sum grows with k: 02_promoted is the way out.

#include "gemm/ladder/along_k.h"
#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::fp8::along_k {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4, .cluster_m = 2, .persistent = true};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;

__global__ void __launch_bounds__(d.threads(), 1)
    fp8_product(const __grid_constant__ TiledProduct<__nv_bfloat16, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d, staging>(shared);
  const ClusterPlace<d> place;
  if (threadIdx.x == 0) ring.init(4 * d.consumers * d.sharing());
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
          load_stage<d, Major::k, Major::k>(ring, at.stage, place, p.map_a, p.map_b,
                                            (tile.m * d.cluster_m + place.m) * d.m(), tile.n * d.n,
                                            step * stage_depth<__nv_fp8_e4m3>);
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
        multiply_stage<__nv_fp8_e4m3, d, Major::k, Major::k>(ring, at.stage, group, sums, step > 0);
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

Lesson fast_sums() {
  Lesson lesson =
      hopper_lesson<__nv_fp8_e4m3, fp8_product, d, d.threads(), ring_shared_bytes<d, staging>>(
          "along_k/01_fast_sums");
  lesson.idea =
      "The 16-bit types' kernel with an overlapped epilogue, on fp8: a line of 128 bytes is 128 of "
      "k, both operands lie along k, and sums stay with the tensor cores over all of k.";
  lesson.gain =
      "Twice the rate of 16-bit types from half of the bytes for an operand, at the price of sums "
      "of 14 bits.";
  return lesson;
}

}  // namespace fathom::gemm::fp8::along_k
