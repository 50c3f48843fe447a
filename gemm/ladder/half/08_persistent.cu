// One block an SM goes from tile to tile, in bands of 16 tile rows: the producer runs ahead into
// the next tile while the consumers store the last one.
//
// 09_cluster_multicast is the same loop in clusters of two blocks, one below the other: each loads
// half of the tile of B that both multiply with, and TMA writes it to both. Each block's "full"
// barrier counts the bytes of the whole stage. A stage may be refilled when both blocks have read
// it, so that every warp arrives at both blocks' "empty" barriers. No block may leave while the
// other can still arrive at its barriers: the cluster meets at the end.

#include "gemm/blocks/register_store.cuh"
#include "gemm/blocks/wgmma.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

template <int cluster>
constexpr WgmmaConfig config{.n = 256, .stages = 4, .cluster_m = cluster};
template <int cluster>
constexpr LessonTile lesson_tile = tile_of(config<cluster>, 2, ring_shared_bytes<config<cluster>>,
                                           /*persistent=*/true);

template <class Element, int cluster>
__global__ void __launch_bounds__(config<cluster>.threads(), 1)
    persistent_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr WgmmaConfig d = config<cluster>;
  constexpr int band = 16 / cluster, blocks = d.n / block_side / cluster;  // blocks: of B, loaded
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  const ClusterPlace<d> place;
  if (threadIdx.x == 0) ring.init(4 * d.consumers * cluster);
  if constexpr (cluster == 1) {
    __syncthreads();
  } else {
    cluster_sync();
  }
  const int first = static_cast<int>(blockIdx.x) / cluster;
  const int stride = static_cast<int>(gridDim.x) / cluster;
  RingPosition<d.stages> at;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      for (int next = first; next < p.end; next += stride) {
        const TileIndex tile = banded_tile<band>(next, p.tiles_m, p.tiles_n);
        for (int step = 0; step < p.depth; ++step) {
          wait(ring.empty(at.stage), at.parity ^ 1);
          const int row = (tile.m * cluster + place.m) * d.m(), column = tile.n * d.n;
          const int k = step * lesson_tile<cluster>.k;
          arrive_expect_tx(ring.full(at.stage), d.stage_bytes());
          const std::uint16_t all = place.column();  // blocks of the cluster, as bits
#pragma unroll
          for (int i = 0; i < d.m(); i += 64)
            load_box(ring.a(at.stage) + i * 128, p.map_a, k, row + i, ring.full(at.stage));
#pragma unroll
          for (int i = 0; i < blocks; ++i) {
            const int block = place.m * blocks + i, x = column + block * block_side;
            const std::uint32_t to = ring.b(at.stage) + block * block_bytes;
            if constexpr (cluster == 1) {
              load_box(to, p.map_b, x, k, ring.full(at.stage));
            } else {
              load_box_multicast(to, p.map_b, x, k, ring.full(at.stage), all);
            }
          }
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
      const TileIndex tile = banded_tile<band>(next, p.tiles_m, p.tiles_n);
      int last = 0;
      for (int step = 0; step < p.depth; ++step) {
        wait(ring.full(at.stage), at.parity);
        multiply_stage<Element, Major::k, Major::outer>(ring, at.stage, group, sums, step > 0);
        wgmma_wait_group<1>();
        if (step > 0) release(ring, last, place);
        last = at.stage;
        at.advance();
      }
      wgmma_wait_group<0>();
      fence_accumulators(sums.of[0]);
      release(ring, last, place);
      const int row = (tile.m * cluster + place.m) * d.m() + warp * 16;
      store_from_registers(p, sums.of[0], row, tile.n * d.n);
    }
  }
  if constexpr (cluster > 1) cluster_sync();
#endif
}

}  // namespace

Lesson persistent(bool is_bf16) {
  return half_lesson<persistent_product<__half, 1>, persistent_product<__nv_bfloat16, 1>,
                     lesson_tile<1>, launch_wgmma>(
      is_bf16,
      {.name = "08_persistent",
       .parent = "07_wide_tile",
       .idea = "One block an SM goes from tile to tile, in bands of 16 tile rows: blocks that "
               "run at the same time form nearly a square of C.",
       .gain = "The ring fills with the next tile while the last one is stored: at 4096³ "
               "three of an SM's four tiles begin without a wait. 132 tiles at a time need 4160 "
               "rows and columns of the operands instead of 5152, and at 8192³ instead of "
               "8720: less traffic from the L2 and beyond, fewer joules."});
}

Lesson cluster_multicast(bool is_bf16) {
  return half_lesson<persistent_product<__half, 2>, persistent_product<__nv_bfloat16, 2>,
                     lesson_tile<2>, launch_wgmma>(
      is_bf16,
      {.name = "09_cluster_multicast",
       .parent = "08_persistent",
       .idea = "Clusters of two blocks: each loads half of the tile of B that both multiply "
               "with, and TMA writes it to both.",
       .gain = "A block takes 32 KiB from the L2 for a stage of 1024 clocks instead of 48 KiB: a "
               "third of that traffic goes, and its joules."});
}

}  // namespace fathom::gemm::half
