// The first way out of the parent's bank conflicts: where an element of B lies follows who reads
// it. The j-th elements of all threads of a row of threads lie side by side. A thread's eight are
// no longer neighbours, and stores conflict four-fold: they are eight times fewer than the reads.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 7 ("linearise"; GR6).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256};
constexpr int side = 8;  // of a thread's tile
constexpr int threads_n = tile.n / side;

__global__ void __launch_bounds__(tile.threads, 2) linearised_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k], tile_b[tile.k][side][threads_n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / (tile.n / side) * side;
  const int column = static_cast<int>(threadIdx.x) % (tile.n / side) * side;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[side][side] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.m, tile.k, tile.k, tile.threads>(tile_a[0], a, p.lda);
    float share[tile.k * tile.n / tile.threads];
    fetch_tile<tile.k, tile.n, tile.threads>(share, b, p.ldb);
#pragma unroll
    for (int i = 0; i < tile.k * tile.n / tile.threads; ++i) {
      const int number = static_cast<int>(threadIdx.x) + i * tile.threads, n = number % tile.n;
      tile_b[number / tile.n][n % side][n / side] = share[i];
    }
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll 2
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
#pragma unroll
      for (int i = 0; i < side; ++i) of_a[i] = tile_a[row + i][k];
#pragma unroll
      for (int j = 0; j < side; ++j) of_b[j] = tile_b[k][j][column / side];
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
  store_elements(p, p.c + (c_row + row) * p.ldc + c_column + column, sums);
}

}  // namespace

Lesson linearised() {
  return make_lesson<linearised_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/06_linearised",
       .parent = "row_major/05_tile_2d",
       .idea = "B's tile is laid out by its readers: the j-th elements of neighbouring threads lie "
               "side by side.",
       .gain = "A warp's reads of B no longer meet in the same banks, at the price of eight loads "
               "where two of 16 bytes did.",
       // Eight loads of B of one wavefront; its stores take four instead of one.
       .traffic = {2048, 512, 12288, 4096, 1280, 768, 16384}});
}

}  // namespace fathom::gemm::fp32::row_major
