// Twice the tile for as many threads: 8 x 16 elements a thread, 128 x 256 a block, one block on an
// SM.
//
// A thread reads 24 elements from shared memory for 128 multiplications where the parent reads 16
// for 64: six loads of 16 bytes for 128, of the loop's instructions more than nine tenths multiply.
// Half of the SM's registers are sums. Only eight warps are left to hide latencies: three stages,
// and products that do not depend on each other, have to.

#include "gemm/blocks/simt.cuh"
#include "gemm/blocks/simt_copies.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 256, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int stages = 3;
constexpr int rows = 8, columns = 16, apart = 64;  // of a thread's tile, and between its pieces
constexpr int pitch_a = tile.m + 4;

__global__ void __launch_bounds__(tile.threads, 1) wide_thread_tile_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[stages][tile.k][pitch_a];
  alignas(16) __shared__ float tile_b[stages][tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int column = static_cast<int>(threadIdx.x) % 16 * 4;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  const int steps = p.k / tile.k;
  const auto copy = [&](int step) {
    if (step < steps) {
      const int stage = step % stages;
      copy_tile_transposed<tile.m, tile.k, pitch_a, tile.threads>(tile_a[stage][0], a, p.lda);
      copy_tile_vectors<tile.k, tile.n, tile.n, tile.threads>(tile_b[stage][0], b, p.ldb);
      a += tile.k;
      b += tile.k * p.ldb;
    }
    end_copies();
  };
  for (int step = 0; step < stages - 1; ++step) copy(step);
  float sums[rows][columns] = {};
  for (int step = 0; step < steps; ++step) {
    wait_copies<stages - 2>();
    __syncthreads();
    copy(step + stages - 1);
    const int stage = step % stages;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      float of_a[rows], of_b[columns];
#pragma unroll
      for (int i = 0; i < rows; i += 4)
        load_vectors<4>(of_a + i, &tile_a[stage][k][row + i / 4 * apart]);
#pragma unroll
      for (int j = 0; j < columns; j += 4)
        load_vectors<4>(of_b + j, &tile_b[stage][k][column + j / 4 * apart]);
      outer_product(sums, of_a, of_b);
    }
  }
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    float* const c = p.c + (c_row + row + i / 4 * apart + i % 4) * p.ldc + c_column + column;
#pragma unroll
    for (int j = 0; j < columns; j += 4) store_vector(p, c + j / 4 * apart, &sums[i][j]);
  }
}

}  // namespace

Lesson wide_thread_tile() {
  return make_lesson<wide_thread_tile_product, View::row_major_x_along_rows, tile>(
      {.name = "row_major/16_wide_thread_tile",
       .parent = "row_major/15_async_multistage",
       .idea =
           "8 x 16 elements a thread in a tile of 128 x 256: half of an SM's registers are sums.",
       .gain =
           "24 elements from shared memory for 128 multiplications instead of 16 for 64, and less "
           "of the loop is anything but multiplications. Eight warps have to hide all latencies.",
       .capability = 80});
}

}  // namespace fathom::gemm::fp32::row_major
