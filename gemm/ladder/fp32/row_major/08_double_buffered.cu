// Two tiles of each operand: while one is multiplied the next is on its way from global memory. One
// barrier a step is enough, since nobody writes the tile that others read: it parts this step's
// reads from the next step's writes of the same tile, and these writes from the reads that follow.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 11's idea (GR8, G3).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256};
constexpr int side = 8;  // of a thread's tile

__global__ void __launch_bounds__(tile.threads, 2) double_buffered_product(LessonProduct p) {
  __shared__ float tile_a[2][tile.m][tile.k];
  alignas(16) __shared__ float tile_b[2][tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / (tile.n / side) * side;
  const int column = static_cast<int>(threadIdx.x) % (tile.n / side) * side;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[side][side] = {};
  load_tile<tile.m, tile.k, tile.k, tile.threads>(tile_a[0][0], a, p.lda);
  load_tile<tile.k, tile.n, tile.n, tile.threads>(tile_b[0][0], b, p.ldb);
  __syncthreads();
  int reading = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    const bool more = step + tile.k < p.k;
    float next_a[tile.m * tile.k / tile.threads], next_b[tile.k * tile.n / tile.threads];
    if (more) {
      a += tile.k;
      b += tile.k * p.ldb;
      fetch_tile<tile.m, tile.k, tile.threads>(next_a, a, p.lda);
      fetch_tile<tile.k, tile.n, tile.threads>(next_b, b, p.ldb);
    }
#pragma unroll 2
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
#pragma unroll
      for (int i = 0; i < side; ++i) of_a[i] = tile_a[reading][row + i][k];
      load_vectors<side>(of_b, &tile_b[reading][k][column]);
      outer_product(sums, of_a, of_b);
    }
    reading ^= 1;
    if (more) {
      put_tile<tile.m, tile.k, tile.k, tile.threads>(tile_a[reading][0], next_a);
      put_tile<tile.k, tile.n, tile.n, tile.threads>(tile_b[reading][0], next_b);
    }
    __syncthreads();
  }
  store_elements(p, p.c + (c_row + row) * p.ldc + c_column + column, sums);
}

}  // namespace

Lesson double_buffered() {
  return make_lesson<double_buffered_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/08_double_buffered",
       .parent = "row_major/05_tile_2d",
       .idea = "Two tiles of each operand: the next one is fetched while the present one is "
               "multiplied, with one barrier a step.",
       .gain = "The latency of global memory hides behind 512 multiplications a thread, and half "
               "of the barriers go.",
       .traffic = {2048, 512, 16384, 8192, 512, 0, 16384}});
}

}  // namespace fathom::gemm::fp32::row_major
