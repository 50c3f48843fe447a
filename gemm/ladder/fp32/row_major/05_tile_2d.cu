// A thread computes 8 x 8 elements as an outer product: for each k eight elements of A and eight of
// B go to registers, and each is used eight times.
//
// Now conflicts matter: the 16 threads of a row of threads read B eight words apart, and their
// reads meet in the same banks. 06 and 07 remove that in two ways; 08 and 09 go on from here too.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 5 (claims GR5, G3).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256};
constexpr int side = 8;  // of a thread's tile

__global__ void __launch_bounds__(tile.threads, 2) tile_2d_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k];
  alignas(16) __shared__ float tile_b[tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / (tile.n / side) * side;
  const int column = static_cast<int>(threadIdx.x) % (tile.n / side) * side;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[side][side] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.m, tile.k, tile.k, tile.threads>(tile_a[0], a, p.lda);
    load_tile<tile.k, tile.n, tile.n, tile.threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll 2
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
#pragma unroll
      for (int i = 0; i < side; ++i) of_a[i] = tile_a[row + i][k];
      load_vectors<side>(of_b, &tile_b[k][column]);
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
  store_elements(p, p.c + (c_row + row) * p.ldc + c_column + column, sums);
}

}  // namespace

Lesson tile_2d() {
  return make_lesson<tile_2d_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/05_tile_2d",
       .parent = "row_major/04_tile_1d",
       .idea = "A thread computes 8 x 8 elements as an outer product of registers; the block's "
               "tile is 128 x 128 x 8.",
       .gain =
           "Sixteen elements from shared memory for 64 multiplications instead of nine for "
           "eight: arithmetic becomes the limit, once loads and conflicts are out of the way.",
       // Eight warps, 64 steps: eight loads of A of two wavefronts, two of B of eight.
       .traffic = {2048, 512, 16384, 8192, 512, 0, 16384}});
}

}  // namespace fathom::gemm::fp32::row_major
