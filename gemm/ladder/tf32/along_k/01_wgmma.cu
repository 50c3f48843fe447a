// tf32: fp32 as it lies in memory, of which the tensor cores multiply the upper 19 bits.
//
// The loop is that of half/10_overlapped_epilogue, which this goes on from. What changes follows
// from the size of an element. A line of 128 bytes, the unit in which tiles are loaded and
// multiplied, is 32 of k: a stage of 128 x 256 x 32 keeps the tensor cores busy for the same 1024
// clocks with half of the multiplications, and takes the same 48 KiB. wgmma turns 16-bit elements
// alone, so that both operands must lie along k (BLAS's TN). C has 32 bits too: a line of it is 32
// columns, and a tile takes eight stores a warp instead of four.
//
// So 1024 multiplications a clock and SM, half of fp16's rate and eight times that of the FMA
// units, on fp32 data without a conversion; a product keeps 10 bits of each operand's mantissa.

#include "gemm/ladder/along_k.h"
#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::tf32::along_k {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4, .cluster_m = 2, .persistent = true};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;

__global__ void __launch_bounds__(d.threads(), 1)
    tf32_product(const __grid_constant__ TiledProduct<float, float> p) {
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
                                            step * stage_depth<float>);
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
        multiply_stage<float, d, Major::k, Major::k>(ring, at.stage, group, sums, step > 0);
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

Lesson wgmma() {
  Lesson lesson = hopper_lesson<float, tf32_product, d, d.threads(), ring_shared_bytes<d, staging>>(
      "along_k/01_wgmma");
  lesson.idea =
      "The 16-bit types' kernel with an overlapped epilogue, on fp32 data as they lie: a line of "
      "128 bytes is 32 of k, and both operands lie along k, since wgmma turns 16-bit elements "
      "alone.";
  lesson.gain =
      "Eight times the rate of the FMA units, half of fp16's: the tensor cores take 32 of k in the "
      "1024 clocks in which they take 64 of 16 bits. No conversion; 10 bits of each operand's "
      "mantissa count.";
  return lesson;
}

}  // namespace fathom::gemm::tf32::along_k
