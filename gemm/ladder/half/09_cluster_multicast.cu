// Clusters of two blocks, one below the other: each loads half of the tile of B that both multiply
// with, and TMA writes it to both.
//
// load_stage asks for this block's rows of A and its half of B, the latter with the cluster's bits,
// and each block's "full" barrier counts the bytes of the whole stage. A stage may be refilled when
// both blocks have read it, so that every warp arrives at both blocks' "empty" barriers. A block
// takes 32 KiB from the L2 for a stage instead of 48. No block may leave while the other can still
// arrive at its barriers: the cluster meets at the end.

#include "gemm/ladder/hopper_lesson.cuh"

namespace fathom::gemm::half {
namespace {

constexpr KernelConfig d{.n = 256, .stages = 4, .cluster_m = 2, .persistent = true};

template <class Element>
__global__ void __launch_bounds__(d.threads(), 1)
    multicast_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
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
      const int row = (tile.m * d.cluster_m + place.m) * d.m() + warp * 16;
      store_from_registers(p, sums.of[0], row, tile.n * d.n);
    }
  }
  cluster_sync();
#endif
}

}  // namespace

Lesson cluster_multicast(Class of) {
  return of_16_bits(of, []<class Element>(std::type_identity<Element>) {
    return hopper_lesson<Element, multicast_product<Element>, d>(
        {.name = "09_cluster_multicast",
         .parent = "08_persistent",
         .idea = "Clusters of two blocks: each loads half of the tile of B that both multiply "
                 "with, and TMA writes it to both.",
         .gain = "A block takes 32 KiB from the L2 for a stage of 1024 clocks instead of 48 KiB: a "
                 "third of that traffic goes, and its joules."});
  });
}

}  // namespace fathom::gemm::half
