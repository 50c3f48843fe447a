// A tile of 128 x 256: each of the two warpgroups multiplies 64 x 256 at once.
//
// The loop is the parent's; the tile is twice as wide, and a stage takes 48 KiB, so that there are
// four. A thread holds 128 sums. Each element of the tiles is used for 85 multiplications instead
// of 64: a quarter of the traffic from the L2 goes, and the products read 80 bytes of shared memory
// a clock instead of 96.

#include "gemm/ladder/lessons.h"
#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::half {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4};

template <class Element>
__global__ void __launch_bounds__(d.threads(), 1)
    wide_tile_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  const ClusterPlace<d> place;
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
        load_stage<d, Major::k, Major::outer>(ring, at.stage, place, p.map_a, p.map_b, row, column,
                                              step * stage_depth<Element>);
        at.advance();
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    Sums<d> sums;
    start(sums);
    for (int step = 0, last = 0; step < p.depth; ++step) {
      wait(ring.full(at.stage), at.parity);
      multiply_stage<Element, d, Major::k, Major::outer>(ring, at.stage, group, sums, step > 0);
      wgmma_wait_group<1>();
      if (step > 0) release(ring, last, place);
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

template <class Element>
Lesson make_wide_tile() {
  Lesson lesson =
      hopper_lesson<Element, wide_tile_product<Element>, d, d.threads(), ring_shared_bytes<d>>(
          "07_wide_tile");
  lesson.parent = "06_warp_specialised";
  lesson.idea =
      "A tile of 128 x 256: each warpgroup multiplies 64 x 256 at once, with all of its registers.";
  lesson.gain =
      "Each element of the tiles is used for 85 multiplications instead of 64, so that a quarter "
      "of the traffic from the L2 goes, and the products read 80 bytes of shared memory a clock "
      "instead of 96.";
  return lesson;
}

}  // namespace

Lesson wide_tile(Class of) {
  return of == Class::fp16 ? make_wide_tile<__half>() : make_wide_tile<__nv_bfloat16>();
}

}  // namespace fathom::gemm::half
