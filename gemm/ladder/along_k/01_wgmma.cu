// The types of other widths than 16 bits: tf32, fp8 and int8.
//
// The loop is that of half/10_overlapped_epilogue, which this goes on from. What changes follows
// from the size of an element. A line of 128 bytes, the unit in which tiles are loaded and
// multiplied, is 32 of k in tf32 and 128 in fp8 and int8. A stage of 128 x 256 by a line takes the
// same 48 KiB and 1024 clocks as 64 of 16 bits: half of fp16's multiplications, or twice as many.
// wgmma turns 16-bit elements alone, so that both operands must lie along k (BLAS's TN). Where C
// has 32 bits, a line of it is 32 columns, and a tile takes eight stores a warp instead of four.
//
// tf32 is fp32 as it lies in memory, of which the tensor cores multiply the upper 19 bits: eight
// times the rate of the FMA units without a conversion; 10 bits of each operand's mantissa count.
//
// fp8 has the tensor cores' full rate, and the bits that they keep of sums: 14, not fp32's 24, and
// what an addition pushes out is cut off. The error of a sum grows with k: 02_promoted is the way
// out.
//
// int8 is exact. Its sums never round, so that any order gives the same C, and the check demands
// equality; C, alpha and beta are int32. C is four times as wide as the operands: at 4096³
// 67 MB of the 101 MB that must move, and a tile's 32 stages have 128 KiB to store where fp16's 64
// have 64 KiB. It is what keeps this from twice fp16's speed, beside the power that twice the rate
// takes.

#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::along_k {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4, .cluster_m = 2, .persistent = true};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;

template <class In, class Out, class Scalar>
__global__ void __launch_bounds__(d.threads(), 1)
    along_k_product(const __grid_constant__ TiledProduct<Out, Scalar> p) {
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
                                            step * stage_depth<In>);
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
        multiply_stage<In, d, Major::k, Major::k>(ring, at.stage, group, sums, step > 0);
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

template <class In, class Out, class Scalar>
Lesson make(const LessonText& text) {
  return hopper_lesson<In, along_k_product<In, Out, Scalar>, d, ring_shared_bytes<d, staging>>(
      text);
}

}  // namespace

Lesson wgmma(Class of) {
  switch (of) {
    case Class::tf32:
      return make<float, float, float>(
          {.name = "along_k/01_wgmma",
           .idea = "The 16-bit types' kernel with an overlapped epilogue, on fp32 data as they "
                   "lie: a line of 128 bytes is 32 of k, and both operands lie along k, since "
                   "wgmma turns 16-bit elements alone.",
           .gain = "Eight times the rate of the FMA units, half of fp16's: the tensor cores take "
                   "32 of k in the 1024 clocks in which they take 64 of 16 bits. No conversion; 10 "
                   "bits of each operand's mantissa count."});
    case Class::fp8:
      return make<__nv_fp8_e4m3, __nv_bfloat16, float>(
          {.name = "along_k/01_fast_sums",
           .idea = "The 16-bit types' kernel with an overlapped epilogue, on fp8: a line of 128 "
                   "bytes is 128 of k, both operands lie along k, and sums stay with the tensor "
                   "cores over all of k.",
           .gain = "Twice the rate of 16-bit types from half of the bytes for an operand, at the "
                   "price of sums of 14 bits."});
    default:
      return make<std::int8_t, int, int>(
          {.name = "along_k/01_wgmma",
           .idea = "The 16-bit types' kernel with an overlapped epilogue, on 8-bit integers: a "
                   "line of 128 bytes is 128 of k, both operands lie along k, and the sums are "
                   "exact in 32 bits.",
           .gain = "Twice the rate of 16-bit types from half of the bytes for an operand; but C "
                   "has 32 bits, twice a tile's bytes to store for half of the stages."});
  }
}

}  // namespace fathom::gemm::along_k
