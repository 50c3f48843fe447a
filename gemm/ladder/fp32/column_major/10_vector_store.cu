// Four rows of a column a thread, stored by 16 bytes, where the parent stages its 2 x 2 elements in
// shared memory.
//
// Eight neighbouring lanes store 128 bytes of a column, so that stores are whole sectors without
// the staging. In the loop an element of A serves once.
//
// Source: the column-major ladder's remark on storing float4 (claim GC13).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int rows = 4, pitch = 33;

__global__ void __launch_bounds__(tile.threads) vector_store_product(LessonProduct p) {
  __shared__ float tile_a[tile.k][pitch], tile_b[tile.n][pitch];
  const int row = static_cast<int>(threadIdx.x) % (tile.m / rows) * rows;
  const int column = static_cast<int>(threadIdx.x) / (tile.m / rows);
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[rows] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.k, tile.m, pitch, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_tile<tile.n, tile.k, pitch, tile.threads>(tile_b[0], b + step, p.ldb);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      const float of_b = tile_b[column][k];
#pragma unroll
      for (int i = 0; i < rows; ++i) sums[i] = fmaf(tile_a[k][row + i], of_b, sums[i]);
    }
    __syncthreads();
  }
  store_vector(p, p.c + (c_column + column) * p.ldc + c_row + row, sums);
}

}  // namespace

Lesson vector_store() {
  return make_lesson<vector_store_product, Order::column_major, tile>(
      {.name = "column_major/10_vector_store",
       .parent = "column_major/03_tile_2x2",
       .idea = "A thread computes four rows of a column and stores them by 16 bytes, without a way "
               "through shared memory.",
       .gain = "A barrier and the staging go, for five shared loads for four multiplications."});
}

}  // namespace fathom::gemm::fp32::column_major
