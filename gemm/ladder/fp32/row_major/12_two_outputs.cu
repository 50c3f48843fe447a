// Two elements a thread, 16 rows apart: two independent chains of multiplications hide each other's
// latency, as other warps do already. Half of the threads, and an element of B serves twice.
//
// Source: the second kernel of the notes on shared memory and products of doubles (claim G1).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 512};
constexpr int apart = 16;  // rows between a thread's two elements

__global__ void __launch_bounds__(tile.threads) two_outputs_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k], tile_b[tile.k][tile.n];
  const int row = static_cast<int>(threadIdx.x / 32), column = static_cast<int>(threadIdx.x % 32);
  const std::int64_t c_row = blockIdx.x * tile.m + row;
  const std::int64_t c_column = blockIdx.y * tile.n + column;
  const float* a = p.a + c_row * p.lda + column;
  const float* b = p.b + row * p.ldb + c_column;
  float upper = 0, lower = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    tile_a[row][column] = *a;
    tile_a[row + apart][column] = a[apart * p.lda];
    tile_b[row][column] = *b;
    tile_b[row + apart][column] = b[apart * p.ldb];
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      upper = fmaf(tile_a[row][k], tile_b[k][column], upper);
      lower = fmaf(tile_a[row + apart][k], tile_b[k][column], lower);
    }
    __syncthreads();
  }
  float* const c = p.c + c_row * p.ldc + c_column;
  store_element(p, c, upper);
  store_element(p, c + apart * p.ldc, lower);
}

}  // namespace

Lesson two_outputs() {
  return make_lesson<two_outputs_product, Order::row_major, tile>(
      {.name = "row_major/12_two_outputs",
       .parent = "row_major/03_shared_memory",
       .idea = "A thread computes two elements, 16 rows apart: two independent chains.",
       .gain = "Three shared loads for two multiplications instead of four; the second chain hides "
               "latency that other warps hide already.",
       .traffic = {512, 128, 3072, 0, 128, 0, 128}});
}

}  // namespace fathom::gemm::fp32::row_major
