// Asynchronous copies (cp.async) into four stages, and fragments in registers 16 of k ahead.
//
// Nothing waits any more for what it has just asked for. A tile has three steps to arrive, of 770
// clocks each at mma.sync's rate on an H200, where DRAM answers after about 650, and no register
// holds it on its way; ldmatrix has the time of 32 products. One barrier a step is left: after it
// the next stage is there for all, and the stage before the present one may be overwritten.

#include "gemm/blocks/half_tiles.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

using W = EightWarps;
/// Four stages are what Ampere's and Ada's smaller chips have room for.
constexpr int stages = 4, elements_a = W::m * W::k, stage_elements = elements_a + W::k * W::n;
constexpr LessonTile tile_04{.m = W::m,
                             .n = W::n,
                             .k = W::k,
                             .threads = W::threads,
                             .shared_bytes = stages * stage_elements * 2};

template <class Element>
__global__ void __launch_bounds__(W::threads, 1) multistage_product(HalfProduct<Element> p) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    Element* const tiles = reinterpret_cast<Element*>(shared);
    const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), p.m / W::m, p.n / W::n);
    const WarpPlace place = warp_place<W>();
    const Element* from_a = &p.a(tile.m * W::m, 0);
    const Element* from_b = &p.b(0, tile.n * W::n);
    const int steps = p.k / W::k;
    const auto copy = [&](int step) {
      if (step < steps) {
        Element* const to = tiles + step % stages * stage_elements;
        copy_words<SwizzledWords, W::m, W::k, W::threads>(to, from_a, p.a.row_stride);
        copy_words<SwizzledWords, W::k, W::n, W::threads>(to + elements_a, from_b, p.b.row_stride);
        from_a += W::k;
        from_b += W::k * p.b.row_stride;
      }
      async_commit();  // an empty group where nothing is left, to count alike
    };
    WarpFragments fragments[2];
    const auto load = [&](int i, int step, int k) {
      const Element* const from = tiles + step % stages * stage_elements;
      fragments[i].load<SwizzledWords<W::k>, SwizzledWords<W::n>>(from, from + elements_a, place,
                                                                  k);
    };
    WarpSums sums;
#pragma unroll
    for (int step = 0; step < stages - 1; ++step) copy(step);
    async_wait<stages - 2>();
    __syncthreads();
    load(0, 0, 0);
    for (int step = 0; step < steps; ++step) {
      load(1, step, 16);
      copy(step + stages - 1);
      sums.add<Element>(fragments[0]);
      async_wait<stages - 2>();
      __syncthreads();
      load(0, step + 1, 0);  // after the last step: what nobody multiplies
      sums.add<Element>(fragments[1]);
    }
    async_wait<0>();
    __syncthreads();  // the sums take the tiles' place
    float* const own =
        reinterpret_cast<float*>(shared) + threadIdx.x / 32 * StagedRows<W::warp_n>::floats;
    sums.store(own, p, tile.m * W::m + place.m, tile.n * W::n + place.n);
  }
}

}  // namespace

Lesson multistage(bool is_bf16) {
  return half_lesson<multistage_product<__half>, multistage_product<__nv_bfloat16>, tile_04,
                     launch_half>(
      is_bf16,
      {.name = "04_multistage",
       .parent = "03_mma_sync",
       .idea = "cp.async into four stages, and fragments read 16 of k ahead: nothing waits for "
               "what it asks for.",
       .gain = "Three steps' time for a tile to arrive, no registers for what is on its way, and "
               "one barrier a step under which products go on.",
       .capability = 80,
       .counters = &known_fragments_ahead});
}

}  // namespace fathom::gemm::half
