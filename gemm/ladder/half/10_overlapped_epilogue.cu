// The tile's results leave while the next tile is multiplied.
//
// A warp has two buffers of 16 rows by 64 columns. stmatrix fills one as 16-bit elements, swizzled,
// and TMA stores it while the warp fills the other; the last stores of a tile are under way while
// the warp goes on to the next tile.
//
// along_k/01_wgmma and 01_fast_sums are the same kernel for types of other widths than 16 bits:
// tf32, fp8 and int8. A line of 128 bytes, the unit in which tiles are loaded and multiplied, is 32
// of k in tf32, 128 in fp8 and int8. wgmma turns 16-bit elements alone, so that both operands lie
// along k (BLAS's TN). Where C has 32 bits, a tile takes eight stores.
//
// tf32 is fp32 as it lies in memory, without its last 13 bits. fp8's sums keep 14 bits: their error
// grows with k (along_k/02_promoted is the way out). int8 is exact, and the check demands equality.

#include "gemm/blocks/wgmma.cuh"
#include "gemm/blocks/wgmma_store.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

constexpr WgmmaConfig d{.n = 256, .stages = 4, .cluster_m = 2};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;
constexpr int blocks = d.n / block_side / d.cluster_m;  ///< of B's tile: this block's share
template <class In>
constexpr LessonTile lesson_tile = tile_of(d, sizeof(In), ring_shared_bytes<d, staging>,
                                           /*persistent=*/true);

template <class In, class Out, class Scalar, Major b_major>
__global__ void __launch_bounds__(d.threads(), 1)
    overlapped_product(const __grid_constant__ TiledProduct<Out, Scalar> p) {
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
          const int k = step * lesson_tile<In>.k;
          arrive_expect_tx(ring.full(at.stage), d.stage_bytes());
          const std::uint16_t both = place.column();
#pragma unroll
          for (int i = 0; i < d.m(); i += 64)
            load_box(ring.a(at.stage) + i * 128, p.map_a, k, row + i, ring.full(at.stage));
#pragma unroll
          for (int i = 0; i < blocks; ++i) {
            const int block = place.m * blocks + i, outer = column + block * block_side;
            const int x = b_major == Major::k ? k : outer, y = b_major == Major::k ? outer : k;
            load_box_multicast(ring.b(at.stage) + block * block_bytes, p.map_b, x, y,
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
        multiply_stage<In, Major::k, b_major>(ring, at.stage, group, sums, step > 0);
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

Lesson overlapped_epilogue(bool is_bf16) {
  return half_lesson<overlapped_product<__half, __half, float, Major::outer>,
                     overlapped_product<__nv_bfloat16, __nv_bfloat16, float, Major::outer>,
                     lesson_tile<__half>, launch_wgmma>(
      is_bf16,
      {.name = "10_overlapped_epilogue",
       .parent = "09_cluster_multicast",
       .idea = "Sums go to shared memory by stmatrix, 16 rows by 64 columns at a time, and TMA "
               "stores them while the warp goes on to the next tile.",
       .gain = "Whole lines of C instead of pieces of 16 bytes a row, and no warpgroup waits for "
               "its stores: the epilogue of a tile shrinks to the conversion."});
}

Lesson wgmma_tf32() {
  return tensor_lesson<overlapped_product<float, float, float, Major::k>, lesson_tile<float>,
                       launch_wgmma>(
      {.name = "along_k/01_wgmma",
       .idea = "The 16-bit types' kernel with an overlapped epilogue, on fp32 data as they "
               "lie: a line of 128 bytes is 32 of k, and both operands lie along k, since "
               "wgmma turns 16-bit elements alone.",
       .gain = "Eight times the rate of the FMA units, half of fp16's: the tensor cores take "
               "32 of k in the 1024 clocks in which they take 64 of 16 bits. No conversion; 10 "
               "bits of each operand's mantissa count."});
}

Lesson fast_sums() {
  return tensor_lesson<overlapped_product<__nv_fp8_e4m3, __nv_bfloat16, float, Major::k>,
                       lesson_tile<__nv_fp8_e4m3>, launch_wgmma>(
      {.name = "along_k/01_fast_sums",
       .idea = "The 16-bit types' kernel with an overlapped epilogue, on fp8: a line of 128 "
               "bytes is 128 of k, both operands lie along k, and sums stay with the tensor "
               "cores over all of k.",
       .gain = "Twice the rate of 16-bit types from half of the bytes for an operand, at the "
               "price of sums of 14 bits."});
}

Lesson wgmma_int8() {
  return tensor_lesson<overlapped_product<std::int8_t, int, int, Major::k>,
                       lesson_tile<std::int8_t>, launch_wgmma>(
      {.name = "along_k/01_wgmma",
       .idea = "The 16-bit types' kernel with an overlapped epilogue, on 8-bit integers: a "
               "line of 128 bytes is 128 of k, both operands lie along k, and the sums are "
               "exact in 32 bits.",
       .gain = "Twice the rate of 16-bit types from half of the bytes for an operand; but C "
               "has 32 bits, twice a tile's bytes to store for half of the stages."});
}

}  // namespace fathom::gemm::half
