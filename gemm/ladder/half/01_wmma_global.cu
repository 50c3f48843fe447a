// The tensor cores by way of nvcuda::wmma, straight from global memory: a warp computes 16 x 16 of
// C, and loads 16 x 16 of each operand for each 16 of k.
//
// That is 4096 multiplications for two fragments, only 8 for each element. A fragment is four loads
// of 4 bytes a lane, each of eight rows, so that the L1 looks up 64 lines for the 4096: at one line
// a clock 33 TFLOP/s on an H200 at 1980 MHz, less than its FMA units do.
//
// Source: the WMMA kernel of the notes on shared memory and products of doubles (claim G5). It has
// no block index, so that each block computes the same tile, and it loads row-major B as
// column-major: both show in any product that is larger than a tile or not symmetric.

#include <mma.h>

#include "gemm/blocks/half_tiles.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::half {
namespace {

namespace wmma = nvcuda::wmma;

/// Sixteen warps, which find what their neighbours load in the L1.
struct GlobalWarps {
  static constexpr int m = 64, n = 64, threads = 512, warp_m = 16, warp_n = 16;
};
constexpr LessonTile tile_01{64, 64, 16, GlobalWarps::threads};

template <class Element>
__global__ void __launch_bounds__(tile_01.threads) wmma_global_product(HalfProduct<Element> p) {
  if constexpr (has_matrix_products<Element>) {
    using Rows = StagedRows<16>;
    alignas(32) __shared__ float staged[tile_01.threads / 32][Rows::floats];
    const TileIndex tile =
        banded_tile<8>(static_cast<int>(blockIdx.x), p.m / tile_01.m, p.n / tile_01.n);
    const WarpPlace place = warp_place<GlobalWarps>();
    const int row = tile.m * tile_01.m + place.m, column = tile.n * tile_01.n + place.n;
    const auto lda = static_cast<unsigned>(p.a.row_stride);
    const auto ldb = static_cast<unsigned>(p.b.row_stride);
    const Element* from_a = &p.a(row, 0);
    const Element* from_b = &p.b(0, column);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int k = 0; k < p.k; k += 16) {
      wmma::load_matrix_sync(a, from_a, lda);
      wmma::load_matrix_sync(b, from_b, ldb);
      wmma::mma_sync(sums, a, b, sums);
      from_a += 16;
      from_b += 16 * p.b.row_stride;
    }
    float* const own = staged[threadIdx.x / 32];
    wmma::store_matrix_sync(own, sums, Rows::pitch, wmma::mem_row_major);
    Rows::store(own, p, row, column);
  }
}

}  // namespace

Lesson wmma_global(bool is_bf16) {
  return half_lesson<wmma_global_product<__half>, wmma_global_product<__nv_bfloat16>, tile_01,
                     launch_half>(
      is_bf16,
      {.name = "01_wmma_global",
       .idea = "Tensor cores by nvcuda::wmma: a warp multiplies 16 x 16 x 16 at a time, loaded "
               "straight from global memory.",
       .gain = "4096 multiplications an instruction pair; but only 8 for each element that a "
               "warp loads, and the L1 looks up 64 lines for them: that is what it waits for.",
       .counters = &known_products});
}

}  // namespace fathom::gemm::half
