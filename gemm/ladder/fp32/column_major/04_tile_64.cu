// A tile of 64 x 64, 64 deep, and 4 x 4 elements a thread: a 16-byte store touches 16 columns of C.
//
// Source: kernel `sgemm_64` of the column-major ladder (claims GC1 to GC13). It lacks the second
// barrier in the loop (see 01), and takes ldb for ldc: any product whose k is not m shows it.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{64, 64, 64, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int side = 4, pitch_b = tile.k + 1;

__global__ void __launch_bounds__(tile.threads) tile_64_product(LessonProduct p) {
  __shared__ float tile_a[tile.k][tile.m], tile_b[tile.n][pitch_b];
  const int row = static_cast<int>(threadIdx.x) / 16 * side;
  const int column = static_cast<int>(threadIdx.x) % 16 * side;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[side][side] = {};  // by column, then by row
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.k, tile.m, tile.m, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_tile<tile.n, tile.k, pitch_b, tile.threads>(tile_b[0], b + step, p.ldb);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < side; ++i) {
      for (int k = 0; k < tile.k; ++k) {
        const float of_b = tile_b[column + i][k];
#pragma unroll
        for (int j = 0; j < side; ++j) sums[i][j] = fmaf(tile_a[k][row + j], of_b, sums[i][j]);
      }
    }
    __syncthreads();
  }
  store_vectors(p, p.c + (c_column + column) * p.ldc + c_row + row, sums);
}

}  // namespace

Lesson tile_64() {
  return make_lesson<tile_64_product, Order::column_major, tile>(
      {.name = "column_major/04_tile_64",
       .parent = "column_major/03_tile_2x2",
       .idea = "A tile of 64 x 64, 64 deep, 4 x 4 elements a thread, stored by 16 bytes.",
       .gain = "Half of the global traffic; but a column of B at a time, so that A is read again "
               "for each of the four.",
       // Four columns of five loads; B's are 260 words apart for neighbours: two wavefronts.
       .traffic = {1024, 256, 12288, 2048, 256, 0, 512}});
}

}  // namespace fathom::gemm::fp32::column_major
