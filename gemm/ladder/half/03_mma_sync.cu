// The hardware's own product and load in place of wmma's: mma.sync, whose fragments are known lane
// by lane, and ldmatrix, which fills one register of each lane from eight rows of 16 bytes.
//
// Tile, step and stages are the parent's, but a swizzle replaces the padding: eight lanes that
// store two padded lines share a group of banks. nvcc makes ldmatrix of fp16's wmma loads too. What
// gains most is that the next tile waits in registers while this one is multiplied.

#include "gemm/blocks/half_tiles.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

using W = EightWarps;
constexpr int elements_a = W::m * W::k, stage_elements = elements_a + W::k * W::n;
constexpr LessonTile tile_03{
    .m = W::m, .n = W::n, .k = W::k, .threads = W::threads, .shared_bytes = 2 * stage_elements * 2};
static_assert(tile_03.shared_bytes >= W::threads / 32 * StagedRows<W::warp_n>::bytes);

template <class Element>
__global__ void __launch_bounds__(W::threads, 1) mma_sync_product(HalfProduct<Element> p) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    Element* const stages = reinterpret_cast<Element*>(shared);
    const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), p.m / W::m, p.n / W::n);
    const WarpPlace place = warp_place<W>();
    const Element* from_a = &p.a(tile.m * W::m, 0);
    const Element* from_b = &p.b(0, tile.n * W::n);
    uint4 next_a[W::m * W::k / 8 / W::threads], next_b[W::k * W::n / 8 / W::threads];
    const auto fetch_next = [&] {
      fetch_words<W::m, W::k, W::threads>(next_a, from_a, p.a.row_stride);
      fetch_words<W::k, W::n, W::threads>(next_b, from_b, p.b.row_stride);
      from_a += W::k;
      from_b += W::k * p.b.row_stride;
    };
    WarpSums sums;
    fetch_next();
    int stage = 0;
    for (int k = 0; k < p.k; k += W::k) {
      Element* const tile_a = stages + stage * stage_elements;
      Element* const tile_b = tile_a + elements_a;
      put_words<SwizzledWords, W::m, W::k, W::threads>(tile_a, next_a);
      put_words<SwizzledWords, W::k, W::n, W::threads>(tile_b, next_b);
      __syncthreads();  // nobody reads the other stage any more either
      if (k + W::k < p.k) fetch_next();
#pragma unroll
      for (int step = 0; step < W::k; step += 16) {
        WarpFragments fragments;
        fragments.load<SwizzledWords<W::k>, SwizzledWords<W::n>>(tile_a, tile_b, place, step);
        sums.add<Element>(fragments);
      }
      stage ^= 1;
    }
    __syncthreads();  // the sums take the tiles' place
    float* const own =
        reinterpret_cast<float*>(shared) + threadIdx.x / 32 * StagedRows<W::warp_n>::floats;
    sums.store(own, p, tile.m * W::m + place.m, tile.n * W::n + place.n);
  }
}

}  // namespace

Lesson mma_sync(bool is_bf16) {
  return half_lesson<mma_sync_product<__half>, mma_sync_product<__nv_bfloat16>, tile_03,
                     launch_half>(
      is_bf16,
      {.name = "03_mma_sync",
       .parent = "02_wmma_shared",
       .idea = "mma.sync on fragments that ldmatrix reads from swizzled tiles, in place of wmma "
               "and padded ones; the next tile is fetched before this one is multiplied.",
       .gain = "Eight loads of four wavefronts each, none in conflict, for 32 products of a "
               "warp, and a step of time for the next tile to arrive.",
       .counters = &known_fragments});
}

}  // namespace fathom::gemm::half
