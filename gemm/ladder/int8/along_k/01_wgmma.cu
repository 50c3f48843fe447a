// 8-bit integers, exact: products and sums are whole numbers of 32 bits.
//
// The loop is that of half/10_overlapped_epilogue, which this goes on from. A line of 128 bytes is
// 128 of k, a wgmma takes 32 of it, and a stage of 128 x 256 x 128 takes the same 1024 clocks as
// one of 64 of 16 bits: 4096 multiplications a clock and SM, twice fp16's rate. Both operands must
// lie along k, since wgmma turns 16-bit elements alone. The sums never round, so that any order
// gives the same C, and the check demands equality; C, alpha and beta are int32.
//
// C is four times as wide as the operands: at 4096 cubed 67 MB of the 101 MB that must move, and a
// tile's 32 stages have 128 KiB to store, in eight stores a warp, where fp16's 64 have 64 KiB. It
// is what keeps this from twice fp16's speed, beside the power that twice the rate takes.

#include "gemm/ladder/along_k.h"
#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::int8::along_k {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4, .cluster_m = 2, .persistent = true};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;

__global__ void __launch_bounds__(d.threads(), 1)
    int8_product(const __grid_constant__ TiledProduct<int, int> p) {
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
                                            step * stage_depth<std::int8_t>);
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
        multiply_stage<std::int8_t, d, Major::k, Major::k>(ring, at.stage, group, sums, step > 0);
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
  Lesson lesson =
      hopper_lesson<std::int8_t, int8_product, d, d.threads(), ring_shared_bytes<d, staging>>(
          "along_k/01_wgmma");
  lesson.idea =
      "The 16-bit types' kernel with an overlapped epilogue, on 8-bit integers: a line of 128 "
      "bytes "
      "is 128 of k, both operands lie along k, and the sums are exact in 32 bits.";
  lesson.gain =
      "Twice the rate of 16-bit types from half of the bytes for an operand; but C has 32 bits, "
      "twice a tile's bytes to store for half of the stages.";
  return lesson;
}

}  // namespace fathom::gemm::int8::along_k
