// The parent's kernel with a thread's tile of 8 x 8 instead of 4 x 16.
//
// A thread's eight rows are two vectors of 16 bytes, and the next lane's begin 32 bytes further: a
// store touches every sector of a column and writes half of it, and a read of A meets itself in the
// banks.
//
// Source: the column-major ladder's remark on its thread tile (claim GC9).

#include "gemm/blocks/simt.cuh"
#include "gemm/ladder/lessons.h"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int rows = 8, columns = 8, pitch_b = tile.n + 4;

/// B's tile, eight k of 128 columns, stored transposed.
__device__ void load_b(float (&tile_b)[tile.k][pitch_b], const float* b, std::int64_t ldb) {
#pragma unroll
  for (int i = 0; i < tile.n * tile.k / tile.threads; ++i) {
    const int number = static_cast<int>(threadIdx.x) + i * tile.threads;
    const int k = number % tile.k, n = number / tile.k;
    tile_b[k][n] = b[n * ldb + k];
  }
}

__global__ void __launch_bounds__(tile.threads, 2) tile_8x8_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[tile.k][tile.m];
  alignas(16) __shared__ float tile_b[tile.k][pitch_b];
  const int row = static_cast<int>(threadIdx.x) % 16 * rows;
  const int column = static_cast<int>(threadIdx.x) / 16 * columns;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[columns][rows] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile_vectors<tile.k, tile.m, tile.m, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_b(tile_b, b + step, p.ldb);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      float of_a[rows], of_b[columns];
      load_vectors<rows>(of_a, &tile_a[k][row]);
      load_vectors<columns>(of_b, &tile_b[k][column]);
      outer_product(sums, of_b, of_a);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < columns; ++i) {
    float* const c = p.c + (c_column + column + i) * p.ldc + c_row + row;
    store_vector(p, c, sums[i]);
    store_vector(p, c + 4, sums[i] + 4);
  }
}

}  // namespace

Lesson tile_8x8() {
  Lesson lesson = make_lesson<tile_8x8_product, View::column_major, tile>();
  lesson.name = "column_major/09_tile_8x8";
  lesson.parent = "column_major/06_tile_128";
  lesson.idea = "The thread's tile has 8 x 8 elements instead of 4 x 16.";
  lesson.gain =
      "16 elements from shared memory instead of 20 for 64 multiplications; but a store covers "
      "half of each sector, and reads of A conflict.";
  lesson.claims = {"GC9"};
  return lesson;
}

}  // namespace fathom::gemm::fp32::column_major
