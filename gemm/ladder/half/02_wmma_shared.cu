// The same wmma products from tiles in shared memory: 256 threads, steps of 32, lines padded by 8
// elements, two stages, so that there is one barrier a step. Nothing is fetched ahead: a block
// waits for its tile before it multiplies.
//
// A warp has every second 16 rows of the tile and every fourth 16 columns. wmma becomes mma.sync,
// which does at most 1361 of wgmma's 2048 multiplications a clock and SM (instructions, an H200).
//
// Source: the WMMA kernel of the ToyX article on optimisation tricks (claim G6: alpha = beta = 0.5
// at 8192). It adds beta C fragment to fragment, of which the elements need not be in the
// same lanes; here the sums go through shared memory.

#include <mma.h>

#include "gemm/blocks/half_tiles.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

namespace wmma = nvcuda::wmma;

using W = EightWarps;
constexpr int pitch_a = PaddedWords<W::k>::pitch, pitch_b = PaddedWords<W::n>::pitch;
constexpr int elements_a = W::m * pitch_a, stage_elements = elements_a + W::k * pitch_b;
constexpr LessonTile tile_02{
    .m = W::m, .n = W::n, .k = W::k, .threads = W::threads, .shared_bytes = 2 * stage_elements * 2};

template <class Element>
__global__ void __launch_bounds__(W::threads, 1) wmma_shared_product(HalfProduct<Element> p) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    Element* const stages = reinterpret_cast<Element*>(shared);
    const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), p.m / W::m, p.n / W::n);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int row = warp / 4 * 16, column = warp % 4 * 16;  // of the warp's first 16 x 16
    const Element* from_a = &p.a(tile.m * W::m, 0);
    const Element* from_b = &p.b(0, tile.n * W::n);
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][4];
#pragma unroll
    for (int i = 0; i < 16; ++i) wmma::fill_fragment(sums[i / 4][i % 4], 0.0f);
    int stage = 0;
    for (int k = 0; k < p.k; k += W::k) {
      Element* const tile_a = stages + stage * stage_elements;
      Element* const tile_b = tile_a + elements_a;
      uint4 of_a[W::m * W::k / 8 / W::threads], of_b[W::k * W::n / 8 / W::threads];
      fetch_words<W::m, W::k, W::threads>(of_a, from_a, p.a.row_stride);
      fetch_words<W::k, W::n, W::threads>(of_b, from_b, p.b.row_stride);
      put_words<PaddedWords, W::m, W::k, W::threads>(tile_a, of_a);
      put_words<PaddedWords, W::k, W::n, W::threads>(tile_b, of_b);
      from_a += W::k;
      from_b += W::k * p.b.row_stride;
      __syncthreads();  // nobody reads the other stage any more either
#pragma unroll
      for (int step = 0; step < W::k; step += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major> a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          wmma::load_matrix_sync(a[i], tile_a + (row + i * 32) * pitch_a + step, pitch_a);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, wmma::row_major> b;
          wmma::load_matrix_sync(b, tile_b + step * pitch_b + column + j * 64, pitch_b);
#pragma unroll
          for (int i = 0; i < 4; ++i) wmma::mma_sync(sums[i][j], a[i], b, sums[i][j]);
        }
      }
      stage ^= 1;
    }
    __syncthreads();  // the sums take the tiles' place
    using Rows = StagedRows<16>;
    float* const own = reinterpret_cast<float*>(shared) + warp * Rows::floats;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      wmma::store_matrix_sync(own, sums[i / 4][i % 4], Rows::pitch, wmma::mem_row_major);
      Rows::store(own, p, tile.m * W::m + row + i / 4 * 32, tile.n * W::n + column + i % 4 * 64);
    }
  }
}

}  // namespace

Lesson wmma_shared(bool is_bf16) {
  return half_lesson<wmma_shared_product<__half>, wmma_shared_product<__nv_bfloat16>, tile_02,
                     launch_half>(
      is_bf16,
      {.name = "02_wmma_shared",
       .parent = "01_wmma_global",
       .idea = "wmma from tiles of 128 x 256 x 32 in shared memory, lines padded by 8 elements, "
               "two stages, 256 threads.",
       .gain = "85 multiplications of each element that a block loads instead of 8: the caches "
               "are no limit any more, and fragments come from shared memory.",
       .counters = &known_products});
}

}  // namespace fathom::gemm::half
