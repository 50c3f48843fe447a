// The tile's results leave while the next tile is multiplied.
//
// A warp has two buffers of 16 rows by 64 columns. stmatrix fills one as 16-bit elements, swizzled,
// and TMA stores it while the warp fills the other; the last stores of a tile are under way while
// the warp goes on to the next tile. Whole lines of C leave instead of pieces of 16 bytes a row,
// and no warp waits for a store: what is left of the epilogue is the conversion.

#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::half {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4, .cluster_m = 2, .persistent = true};
constexpr int warp_staging = 2 * staged_bytes, staging = 4 * d.consumers * warp_staging;

template <class Element>
__global__ void __launch_bounds__(d.threads(), 1)
    overlapped_product(const __grid_constant__ TiledProduct<Element, float> p) {
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
          load_stage<d, Major::k, Major::outer>(ring, at.stage, place, p.map_a, p.map_b,
                                                (tile.m * d.cluster_m + place.m) * d.m(),
                                                tile.n * d.n, step * stage_depth<Element>);
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

Lesson overlapped_epilogue(Class of) {
  return of_16_bits(of, []<class Element>(std::type_identity<Element>) {
    return hopper_lesson<Element, overlapped_product<Element>, d, ring_shared_bytes<d, staging>>(
        {.name = "10_overlapped_epilogue",
         .parent = "09_cluster_multicast",
         .idea = "Sums go to shared memory by stmatrix, 16 rows by 64 columns at a time, and TMA "
                 "stores them while the warp goes on to the next tile.",
         .gain = "Whole lines of C instead of pieces of 16 bytes a row, and no warpgroup waits for "
                 "its stores: the epilogue of a tile shrinks to the conversion."});
  });
}

}  // namespace fathom::gemm::half
