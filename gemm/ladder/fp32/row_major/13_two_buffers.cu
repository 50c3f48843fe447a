// Two pairs of 32 x 32 tiles, one barrier a step: whoever has multiplied a step may store the next
// tiles at once, since nobody reads the other pair any more.
//
// Nothing else changes: a thread still waits for global memory before it stores, and only other
// warps hide that. The four tiles take 16 KiB, which leaves room for two blocks of 1024 threads.
//
// Source: the SGEMM with two buffers of the ToyX article on optimisation tricks (claim G7).

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
  float sum = 0;
  int stage = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    tile_a[stage][row][column] = *a;
    tile_b[stage][row][column] = *b;
    a += tile.k;
    b += tile.k * p.ldb;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tile.k; ++k)
      sum = fmaf(tile_a[stage][row][k], tile_b[stage][k][column], sum);
    stage ^= 1;
  }
  store_element(p, p.c + c_row * p.ldc + c_column, sum);
}

}  // namespace

Lesson two_buffers() {
  return make_lesson<two_buffers_product, Order::row_major, tile>(
      {.name = "row_major/13_two_buffers",
       .parent = "row_major/03_shared_memory",
       .idea = "Two pairs of 32 x 32 tiles, so that the barrier after the multiplications goes.",
       .gain = "Half of the barriers. Shared memory's bandwidth stays the limit, so that little is "
               "gained.",
       .traffic = {512, 128, 4096, 0, 128, 0, 128}});
}

}  // namespace fathom::gemm::fp32::row_major
