// A warp has a tile of its own, 64 x 32, between the block's and the thread's: its lanes are 8 x 4,
// and a lane's rows and columns come in groups of four.
//
// Neighbouring lanes read neighbouring 16 bytes: no conflicts, without padding. Lanes are numbered
// so that lanes i and i ^ 1 read the same of A, and i and i ^ 2 the same of B; then a 16-byte load
// takes two wavefronts and not four.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 10 (claims GR11, S5).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int warp_m = 64, warp_n = 32, lanes_m = 8, lanes_n = 4, side = 8;
constexpr int pitch_a = tile.m + 4;
// Between a lane's two groups of rows, and of columns.
constexpr int next_rows = 4 * lanes_m, next_columns = 4 * lanes_n;

__global__ void __launch_bounds__(tile.threads, 2) warp_tile_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[tile.k][pitch_a];
  alignas(16) __shared__ float tile_b[tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_m = (lane >> 1 & 1) | (lane >> 2 & 6), lane_n = (lane & 1) | (lane >> 1 & 2);
  const int row = warp % (tile.m / warp_m) * warp_m + lane_m * 4;
  const int column = warp / (tile.m / warp_m) * warp_n + lane_n * 4;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[side][side] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile_transposed<tile.m, tile.k, pitch_a, tile.threads>(tile_a[0], a, p.lda);
    load_tile_vectors<tile.k, tile.n, tile.n, tile.threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
      load_vectors<4>(of_a, &tile_a[k][row]);
      load_vectors<4>(of_a + 4, &tile_a[k][row + next_rows]);
      load_vectors<4>(of_b, &tile_b[k][column]);
      load_vectors<4>(of_b + 4, &tile_b[k][column + next_columns]);
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
    float* const c = p.c + (c_row + row + i / 4 * next_rows + i % 4) * p.ldc + c_column + column;
    store_vector(p, c, &sums[i][0]);
    store_vector(p, c + next_columns, &sums[i][4]);
  }
}

}  // namespace

Lesson warp_tile() {
  return make_lesson<warp_tile_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/11_warp_tile",
       .parent = "row_major/09_vectorised",
       .idea = "Each warp computes a tile of 64 x 32, its lanes 8 x 4, a lane's rows and columns "
               "in groups of four.",
       .gain = "A warp reads 96 different elements a step of k instead of 144, and its 16-byte "
               "reads have no conflicts and take two wavefronts each.",
       .traffic = {2048, 128, 4096, 0, 512, 0, 2048}});
}

}  // namespace fathom::gemm::fp32::row_major
