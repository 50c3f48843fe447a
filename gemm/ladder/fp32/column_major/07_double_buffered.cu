// The same with two tiles of each operand in shared memory and one barrier a step.
//
// The next tile is stored before the present one is multiplied, and no register holds it meanwhile:
// a thread waits for global memory before it multiplies, so that only other warps hide the latency.
//
// Source: kernel `sgemm_128_pipeline` of the column-major ladder (claims GC1 to GC13).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int rows = 4, columns = 16, pitch_b = tile.n + 4;

__global__ void __launch_bounds__(tile.threads, 2) double_buffered_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[2][tile.k][tile.m];
  alignas(16) __shared__ float tile_b[2][tile.k][pitch_b];
  const int row = static_cast<int>(threadIdx.x) % 32 * rows;
  const int column = static_cast<int>(threadIdx.x) / 32 * columns;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[columns][rows] = {};
  load_tile_vectors<tile.k, tile.m, tile.m, tile.threads>(tile_a[0][0], a, p.lda);
  load_elements_transposed<tile.n, tile.threads>(tile_b[0], b, p.ldb);
  __syncthreads();
  int reading = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    const int next = step + tile.k;
    if (next < p.k) {
      load_tile_vectors<tile.k, tile.m, tile.m, tile.threads>(tile_a[reading ^ 1][0],
                                                              a + next * p.lda, p.lda);
      load_elements_transposed<tile.n, tile.threads>(tile_b[reading ^ 1], b + next, p.ldb);
    }
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      float of_a[rows], of_b[columns];
      load_vectors<rows>(of_a, &tile_a[reading][k][row]);
      load_vectors<columns>(of_b, &tile_b[reading][k][column]);
      outer_product(sums, of_b, of_a);
    }
    __syncthreads();
    reading ^= 1;
  }
  store_vectors(p, p.c + (c_column + column) * p.ldc + c_row + row, sums);
}

}  // namespace

Lesson double_buffered() {
  return make_lesson<double_buffered_product, Order::column_major, tile>(
      {.name = "column_major/07_double_buffered",
       .parent = "column_major/06_tile_128",
       .idea = "Two tiles of each operand in shared memory and one barrier a step; no registers "
               "between global and shared memory.",
       .gain = "Half of the barriers. The latency of global memory is still waited for, so that "
               "little is gained."});
}

}  // namespace fathom::gemm::fp32::column_major
