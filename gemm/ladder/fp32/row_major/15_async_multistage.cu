// cp.async copies tiles straight into one of five stages of shared memory: no register holds what
// is on its way, no instruction stores it, and a copy has four steps to arrive.
//
// A is copied four bytes at a time, each to its place in the transpose; B by 16 bytes. One barrier
// a step: who passes it has waited for its own copies of this step's stage, and has read the stage
// before, which is filled next. A thread's 8 x 8 elements are four quarters of 4 x 4, 64 rows and
// columns apart, as in lesson 14: no read conflicts.

#include "gemm/blocks/simt.cuh"
#include "gemm/blocks/simt_copies.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int stages = 5;
constexpr int side = 8, half = 64;  // of a thread's tile, and between its halves
constexpr int pitch_a = tile.m + 4;

__global__ void __launch_bounds__(tile.threads, 2) async_multistage_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[stages][tile.k][pitch_a];
  alignas(16) __shared__ float tile_b[stages][tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int column = static_cast<int>(threadIdx.x) % 16 * 4;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  const int steps = p.k / tile.k;
  // A group of copies for each step, an empty one where there is none any more.
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
  float sums[side][side] = {};
  for (int step = 0; step < steps; ++step) {
    wait_copies<stages - 2>();
    __syncthreads();
    copy(step + stages - 1);
    const int stage = step % stages;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_vectors<4>(of_a + i * 4, &tile_a[stage][k][row + i * half]);
        load_vectors<4>(of_b + i * 4, &tile_b[stage][k][column + i * half]);
      }
      outer_product(sums, of_a, of_b);
    }
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
    float* const c = p.c + (c_row + row + i / 4 * half + i % 4) * p.ldc + c_column + column;
    store_vector(p, c, &sums[i][0]);
    store_vector(p, c + half, &sums[i][4]);
  }
}

}  // namespace

Lesson async_multistage() {
  return make_lesson<async_multistage_product, View::row_major_x_along_rows, tile>(
      {.name = "row_major/15_async_multistage",
       .parent = "row_major/11_warp_tile",
       .idea = "cp.async copies tiles of 128 x 128 x 8 straight into one of five stages of shared "
               "memory.",
       .gain = "No registers and no store instructions for what is fetched, four steps of time for "
               "it to arrive, and one barrier a step instead of two.",
       .capability = 80});
}

}  // namespace fathom::gemm::fp32::row_major
