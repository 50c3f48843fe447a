// A thread computes 2 x 2 elements, so that each element that it reads is used twice; the results
// go through A's tile, so that a warp stores 32 rows of a column.
//
// Four shared loads for four multiplications, where the parent took up to eight. Both tiles are
// padded to 33 words, because a warp now reads 16 columns of B at once.
//
// Source: kernel `sgemm_thread_tile` of the column-major ladder (claims GC1 to GC13). The published
// kernel lacks the second barrier in the loop: a fast warp overwrites a tile that a slow one still
// reads. Its results are right until warps drift apart; compute-sanitizer's racecheck and
// tests/host show it.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 256};
constexpr int warps = tile.threads / 32, side = 2, pitch = 33;

__global__ void __launch_bounds__(tile.threads) tile_2x2_product(LessonProduct p) {
  __shared__ float tile_a[tile.k][pitch], tile_b[tile.n][pitch];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(threadIdx.x) / 16 * side;
  const int column = static_cast<int>(threadIdx.x) % 16 * side;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[side][side] = {};  // by column, then by row
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.k, tile.m, pitch, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_tile<tile.n, tile.k, pitch, tile.threads>(tile_b[0], b + step, p.ldb);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < side; ++i) {
#pragma unroll
      for (int k = 0; k < tile.k; ++k) {
        const float of_b = tile_b[column + i][k];
        sums[i][0] = fmaf(tile_a[k][row], of_b, sums[i][0]);
        sums[i][1] = fmaf(tile_a[k][row + 1], of_b, sums[i][1]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
#pragma unroll
    for (int j = 0; j < side; ++j) tile_a[column + i][row + j] = sums[i][j];
  }
  __syncthreads();
#pragma unroll
  for (int i = warp; i < tile.n; i += warps)
    store_element(p, p.c + (c_column + i) * p.ldc + c_row + lane, tile_a[i][lane]);
}

}  // namespace

Lesson tile_2x2() {
  return make_lesson<tile_2x2_product, Order::column_major, tile>(
      {.name = "column_major/03_tile_2x2",
       .parent = "column_major/02_shared_memory",
       .idea = "A thread computes 2 x 2 elements; the results go through shared memory, so that "
               "whole columns are stored.",
       .gain = "Four shared loads for four multiplications, and coalesced stores."});
}

}  // namespace fathom::gemm::fp32::column_major
