// A thread computes eight elements of a column of C: the first reuse of an operand in a register.
// Tiles are eight deep, to stay small. A warp's lanes read the same element of A: a broadcast.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 4 (claim GR4).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{64, 64, 8, 512};
constexpr int per_thread = tile.m * tile.n / tile.threads;

__global__ void __launch_bounds__(tile.threads) tile_1d_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k], tile_b[tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / tile.n * per_thread;
  const int column = static_cast<int>(threadIdx.x) % tile.n;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[per_thread] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.m, tile.k, tile.k, tile.threads>(tile_a[0], a, p.lda);
    load_tile<tile.k, tile.n, tile.n, tile.threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      const float of_b = tile_b[k][column];
#pragma unroll
      for (int i = 0; i < per_thread; ++i) sums[i] = fmaf(tile_a[row + i][k], of_b, sums[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i)
    store_element(p, p.c + (c_row + row + i) * p.ldc + c_column + column, sums[i]);
}

}  // namespace

Lesson tile_1d() {
  return make_lesson<tile_1d_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/04_tile_1d",
       .parent = "row_major/03_shared_memory",
       .idea = "A thread computes eight elements of a column of C from one element of B and eight "
               "of A; the block's tile grows to 64 x 64.",
       .gain = "Nine shared loads for eight multiplications instead of sixteen, and half of the "
               "global traffic.",
       .traffic = {1024, 256, 9216, 0, 256, 0, 512}});
}

}  // namespace fathom::gemm::fp32::row_major
