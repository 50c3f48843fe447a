// 32 x 32 tiles of A (transposed, padded), of B and, what is naive, of C in shared memory. A warp
// computes a row of C's tile at a time: a lane holds one element of A's row, and the lane that
// needs it gets it by a shuffle. Lanes go along diagonals of B, so that no two meet in a bank.
//
// Source: kernel `sgemm_naive` of the column-major ladder (claims GC1 to GC13). It lacks the second
// barrier in the loop: a fast warp overwrites a tile that a slow one still reads. Results are right
// until warps drift apart; compute-sanitizer's racecheck and tests/host show it.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 256};
constexpr int warps = tile.threads / 32;

__global__ void __launch_bounds__(tile.threads) naive_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k + 1], tile_b[tile.n][tile.k], output[tile.m][tile.n + 1];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row + lane;
  const float* b = p.b + c_column * p.ldb + lane;
  for (int i = warp; i < tile.m; i += warps) output[i][lane] = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    for (int i = warp; i < tile.k; i += warps) tile_a[lane][i] = a[(step + i) * p.lda];
    for (int i = warp; i < tile.n; i += warps) tile_b[i][lane] = b[i * p.ldb + step];
    __syncthreads();
    for (int i = warp; i < tile.m; i += warps) {
      const float of_a = tile_a[i][lane];
      float sum = 0;
#pragma unroll
      for (int j = 0; j < tile.k; ++j) {
        const int source = (lane + j) % 32;
        sum = fmaf(__shfl_sync(0xffffffff, of_a, source), tile_b[lane][source], sum);
      }
      output[i][lane] += sum;
    }
    __syncthreads();
  }
  for (int i = warp; i < tile.n; i += warps)
    store_element(p, p.c + (c_column + i) * p.ldc + c_row + lane, output[lane][i]);
}

}  // namespace

Lesson naive() {
  return make_lesson<naive_product, Order::column_major, tile>(
      {.name = "column_major/01_naive",
       .idea = "Tiles of A, B and C in shared memory; a lane's element of A reaches the others by "
               "shuffles along a diagonal.",
       .gain = "The start. Each multiplication takes a shared load and a shuffle, and the sums "
               "travel to shared memory and back.",
       // Eight warps, 64 / 32 steps, four rows: an element of A, 32 of B and the old sum.
       .traffic = {512, 128, 2176, 0, 192, 0, 128, 32, 32, 0}});
}

}  // namespace fathom::gemm::fp32::column_major
