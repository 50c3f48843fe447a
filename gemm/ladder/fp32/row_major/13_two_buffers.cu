// Two pairs of 32 x 32 tiles: the next pair is stored while the present one is multiplied, with one
// barrier a step.
//
// No register holds the next tile meanwhile, so that a thread waits for global memory before it
// multiplies; only other warps hide that. What goes is the second barrier, and the four tiles take
// 16 KiB, which still leaves room for two blocks of 1024 threads.
//
// Source: the double-buffered SGEMM of a course's notes on the memory hierarchy (claim G7).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 1024};

__global__ void __launch_bounds__(tile.threads) two_buffers_product(LessonProduct p) {
  __shared__ float tile_a[2][tile.m][tile.k], tile_b[2][tile.k][tile.n];
  const int row = static_cast<int>(threadIdx.x / 32), column = static_cast<int>(threadIdx.x % 32);
  const std::int64_t c_row = blockIdx.x * tile.m + row;
  const std::int64_t c_column = blockIdx.y * tile.n + column;
  const float* a = p.a + c_row * p.lda + column;
  const float* b = p.b + row * p.ldb + c_column;
  tile_a[0][row][column] = *a;
  tile_b[0][row][column] = *b;
  __syncthreads();
  float sum = 0;
  int reading = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    if (step + tile.k < p.k) {
      a += tile.k;
      b += tile.k * p.ldb;
      tile_a[reading ^ 1][row][column] = *a;
      tile_b[reading ^ 1][row][column] = *b;
    }
#pragma unroll
    for (int k = 0; k < tile.k; ++k)
      sum = fmaf(tile_a[reading][row][k], tile_b[reading][k][column], sum);
    __syncthreads();
    reading ^= 1;
  }
  store_element(p, p.c + c_row * p.ldc + c_column, sum);
}

}  // namespace

Lesson two_buffers() {
  return make_lesson<two_buffers_product, Order::row_major, tile>(
      {.name = "row_major/13_two_buffers",
       .parent = "row_major/03_shared_memory",
       .idea = "Two pairs of 32 x 32 tiles: the next is stored while the present is multiplied.",
       .gain = "Half of the barriers. Shared memory's bandwidth stays the limit, so that little is "
               "gained."});
}

}  // namespace fathom::gemm::fp32::row_major
