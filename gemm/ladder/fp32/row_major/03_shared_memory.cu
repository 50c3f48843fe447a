// Tiles of 32 x 32 of A and of B in shared memory: 1024 threads load an element of each and read it
// 32 times. Both tiles are stored as they are read, so that a warp stores 32 neighbouring words:
// one wavefront, no conflict. The first barrier lets nobody read a tile that is not whole; the
// second lets nobody overwrite one that others still read.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 3 (claim GR3).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 1024};

__global__ void __launch_bounds__(tile.threads) shared_memory_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k], tile_b[tile.k][tile.n];
  const int row = static_cast<int>(threadIdx.x / 32), column = static_cast<int>(threadIdx.x % 32);
  const std::int64_t c_row = blockIdx.x * tile.m + row;
  const std::int64_t c_column = blockIdx.y * tile.n + column;
  const float* a = p.a + c_row * p.lda + column;
  const float* b = p.b + row * p.ldb + c_column;
  float sum = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    tile_a[row][column] = *a;
    tile_b[row][column] = *b;
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) sum = fmaf(tile_a[row][k], tile_b[k][column], sum);
    __syncthreads();
  }
  store_element(p, p.c + c_row * p.ldc + c_column, sum);
}

}  // namespace

Lesson shared_memory() {
  return make_lesson<shared_memory_product, Order::row_major, tile>(
      {.name = "row_major/03_shared_memory",
       .parent = "row_major/02_coalesced",
       .idea = "1024 threads stage 32 x 32 tiles of A and B in shared memory, both stored as they "
               "are read; a thread computes one element.",
       .gain = "Global traffic falls 32-fold; but a multiplication still takes two loads, now from "
               "shared memory, whose bandwidth is the new limit.",
       // 32 warps: two loads a step of k, and two stores for each of two tiles.
       .traffic = {512, 128, 4096, 0, 128, 0, 128}});
}

}  // namespace fathom::gemm::fp32::row_major
