// The same tile; A is read from global memory by 16 bytes, B is stored transposed, and both
// operands of one k are in registers before the 16 multiplications: a quarter of the loads of A.
//
// Source: kernel `sgemm_64_opt` of the column-major ladder (claims GC1 to GC13). It lacks the
// second barrier in the loop (see 01), and takes ldb for ldc as in 04.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{64, 64, 64, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int side = 4, pitch_b = tile.n + 1;

__global__ void __launch_bounds__(tile.threads) vectorised_64_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[tile.k][tile.m];
  __shared__ float tile_b[tile.k][pitch_b];
  const int row = static_cast<int>(threadIdx.x) / 16 * side;
  const int column = static_cast<int>(threadIdx.x) % 16 * side;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[side][side] = {};  // by column, then by row
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile_vectors<tile.k, tile.m, tile.m, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_elements_transposed<tile.n, tile.threads>(tile_b, b + step, p.ldb);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
      load_vectors<side>(of_a, &tile_a[k][row]);
#pragma unroll
      for (int i = 0; i < side; ++i) of_b[i] = tile_b[k][column + i];
      outer_product(sums, of_b, of_a);
    }
    __syncthreads();
  }
  store_vectors(p, p.c + (c_column + column) * p.ldc + c_row + row, sums);
}

}  // namespace

Lesson vectorised_64() {
  return make_lesson<vectorised_64_product, Order::column_major, tile>(
      {.name = "column_major/05_vectorised_64",
       .parent = "column_major/04_tile_64",
       .idea = "A is read by 16 bytes, B is stored transposed, and both operands of one k are in "
               "registers.",
       .gain =
           "Eight elements from shared memory for 16 multiplications instead of five for four.",
       // One load of A of two wavefronts, four of B of two.
       .traffic = {1024, 160, 5120, 2048, 256, 0, 512}});
}

}  // namespace fathom::gemm::fp32::column_major
