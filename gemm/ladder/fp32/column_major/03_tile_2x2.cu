// A thread computes 2 x 2 elements, so that each element that it reads is used twice; the results
// go through A's tile, so that a warp stores 32 rows of a column.
//
// Four shared loads for four multiplications, where the parent took up to eight. Both tiles are
// padded to 33 words, because a warp now reads 16 columns of B at once.
//
// 10_vector_store is the same kernel with 4 x 1 elements a thread, stored by 16 bytes instead of
// staged (claim GC13). Eight neighbouring lanes store 128 bytes of a column: whole sectors all the
// same. In the loop an element of A serves once.
//
// Source: kernel `sgemm_thread_tile` of the column-major ladder (claims GC1 to GC13), and its
// remark on storing float4. It lacks the second barrier in the loop: a fast warp overwrites a tile
// that a slow one still reads; compute-sanitizer's racecheck and tests/host show it.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr int pitch = 33;
template <bool staged>
constexpr LessonTile lesson_tile{32, 32, 32, 256, /*any_size=*/false, /*vectors=*/!staged};

template <int rows, int columns, bool staged>
__global__ void __launch_bounds__(256) thread_tile_product(LessonProduct p) {
  constexpr LessonTile tile = lesson_tile<staged>;
  __shared__ float tile_a[tile.k][pitch], tile_b[tile.n][pitch];
  // Lanes are neighbours along C's rows, or where each has a vector along its columns.
  constexpr int lanes = staged ? tile.n / columns : tile.m / rows;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int row = (staged ? thread / lanes : thread % lanes) * rows;
  const int column = (staged ? thread % lanes : thread / lanes) * columns;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[columns][rows] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.k, tile.m, pitch, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_tile<tile.n, tile.k, pitch, tile.threads>(tile_b[0], b + step, p.ldb);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < columns; ++i) {
#pragma unroll
      for (int k = 0; k < tile.k; ++k) {
        const float of_b = tile_b[column + i][k];
#pragma unroll
        for (int j = 0; j < rows; ++j) sums[i][j] = fmaf(tile_a[k][row + j], of_b, sums[i][j]);
      }
    }
    __syncthreads();
  }
  if constexpr (!staged) {
    store_vectors(p, p.c + (c_column + column) * p.ldc + c_row + row, sums);
  } else {
#pragma unroll
    for (int i = 0; i < columns; ++i) {
#pragma unroll
      for (int j = 0; j < rows; ++j) tile_a[column + i][row + j] = sums[i][j];
    }
    __syncthreads();
#pragma unroll
    for (int i = warp; i < tile.n; i += tile.threads / 32)
      store_element(p, p.c + (c_column + i) * p.ldc + c_row + lane, tile_a[i][lane]);
  }
}

}  // namespace

Lesson tile_2x2() {
  return make_lesson<thread_tile_product<2, 2, true>, Order::column_major, lesson_tile<true>>(
      {.name = "column_major/03_tile_2x2",
       .parent = "column_major/02_shared_memory",
       .idea = "A thread computes 2 x 2 elements; the results go through shared memory, so that "
               "whole columns are stored.",
       .gain = "Four shared loads for four multiplications, and coalesced stores.",
       .traffic = {512, 128, 3072, 0, 128, 0, 128, 32, 64, 32}});
}

Lesson vector_store() {
  return make_lesson<thread_tile_product<4, 1, false>, Order::column_major, lesson_tile<false>>(
      {.name = "column_major/10_vector_store",
       .parent = "column_major/03_tile_2x2",
       .idea = "A thread computes four rows of a column and stores them by 16 bytes, without a way "
               "through shared memory.",
       .gain = "A barrier and the staging go, for five shared loads for four multiplications.",
       .traffic = {512, 128, 2560, 0, 128, 0, 128}});
}

}  // namespace fathom::gemm::fp32::column_major
