// cp.async copies tiles straight into one of five stages of shared memory: no register holds what
// is on its way, no instruction stores it, and a copy has four steps to arrive.
//
// A is copied four bytes at a time, each to its place in the transpose; B by 16 bytes. One barrier
// a step: who passes it has waited for its own copies of this step's stage, and has read the stage
// before, which is filled next. A thread's pieces of 4 x 4 are as in 14: no read conflicts.
//
// 16_wide_thread_tile is the same kernel with twice the tile for as many threads, and one block on
// an SM: of the loop's instructions more than nine tenths multiply. Three stages, and products that
// do not depend on each other, have to hide the latencies.

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr int tile_m = 128, tile_k = 8, block_threads = 256, pitch_a = tile_m + 4;
template <int tile_n>
constexpr LessonTile lesson_tile{tile_m,          tile_n, tile_k, block_threads, /*any_size=*/false,
                                 /*vectors=*/true};
constexpr int rows = 8, apart = 64;  // of a thread, and between its pieces
template <int tile_n>
constexpr int columns = tile_n / 16;

/// Copies a tile by 16 bytes.
template <int lines, int length, int pitch, int threads>
__device__ inline void copy_tile_vectors(float* to, const float* from, std::int64_t ld) {
  constexpr int vectors = length / 4;  // of a line
  static_assert(lines * vectors % threads == 0 && threads % vectors == 0 && pitch % 4 == 0);
  const int line = static_cast<int>(threadIdx.x) / vectors;
  const int first = static_cast<int>(threadIdx.x) % vectors * 4;
#pragma unroll
  for (int i = 0; i < lines; i += threads / vectors)
    async_copy<16>(to + (line + i) * pitch + first, from + (line + i) * ld + first);
}

/// Copies a tile element by element to its transpose: `length` lines of `lines` floats.
template <int lines, int length, int pitch, int threads>
__device__ inline void copy_tile_transposed(float* to, const float* from, std::int64_t ld) {
  static_assert(lines * length % threads == 0 && threads % length == 0);
  const int line = static_cast<int>(threadIdx.x) / length;
  const int first = static_cast<int>(threadIdx.x) % length;
#pragma unroll
  for (int i = 0; i < lines; i += threads / length)
    async_copy<4>(to + first * pitch + line + i, from + (line + i) * ld + first);
}

template <int tile_n, int stages, int blocks>
__global__ void __launch_bounds__(block_threads, blocks) async_multistage_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[stages][tile_k][pitch_a];
  alignas(16) __shared__ float tile_b[stages][tile_k][tile_n];
  const std::int64_t c_row = blockIdx.y * tile_m, c_column = blockIdx.x * tile_n;
  const int row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int column = static_cast<int>(threadIdx.x) % 16 * 4;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  const int steps = p.k / tile_k;
  // A group of copies for each step, an empty one where there is none any more.
  const auto copy = [&](int step) {
    if (step < steps) {
      const int stage = step % stages;
      copy_tile_transposed<tile_m, tile_k, pitch_a, block_threads>(tile_a[stage][0], a, p.lda);
      copy_tile_vectors<tile_k, tile_n, tile_n, block_threads>(tile_b[stage][0], b, p.ldb);
      a += tile_k;
      b += tile_k * p.ldb;
    }
    async_commit();
  };
  for (int step = 0; step < stages - 1; ++step) copy(step);
  float sums[rows][columns<tile_n>] = {};
  for (int step = 0; step < steps; ++step) {
    async_wait<stages - 2>();
    __syncthreads();
    copy(step + stages - 1);
    const int stage = step % stages;
#pragma unroll
    for (int k = 0; k < tile_k; ++k) {
      float of_a[rows], of_b[columns<tile_n>];
#pragma unroll
      for (int i = 0; i < rows; i += 4)
        load_vectors<4>(of_a + i, &tile_a[stage][k][row + i / 4 * apart]);
#pragma unroll
      for (int j = 0; j < columns<tile_n>; j += 4)
        load_vectors<4>(of_b + j, &tile_b[stage][k][column + j / 4 * apart]);
      outer_product(sums, of_a, of_b);
    }
  }
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    float* const c = p.c + (c_row + row + i / 4 * apart + i % 4) * p.ldc + c_column + column;
#pragma unroll
    for (int j = 0; j < columns<tile_n>; j += 4) store_vector(p, c + j / 4 * apart, &sums[i][j]);
  }
}

}  // namespace

Lesson async_multistage() {
  return make_lesson<async_multistage_product<128, 5, 2>, Order::row_major_x_along_rows,
                     lesson_tile<128>>(
      {.name = "row_major/15_async_multistage",
       .parent = "row_major/11_warp_tile",
       .idea = "cp.async copies tiles of 128 x 128 x 8 straight into one of five stages of shared "
               "memory.",
       .gain = "No registers and no store instructions for what is fetched, four steps of time for "
               "it to arrive, and one barrier a step instead of two.",
       .capability = 80,
       .traffic = {2048, 320, 6144, 0, 512, 0, 2048}});
}

Lesson wide_thread_tile() {
  return make_lesson<async_multistage_product<256, 3, 1>, Order::row_major_x_along_rows,
                     lesson_tile<256>>(
      {.name = "row_major/16_wide_thread_tile",
       .parent = "row_major/15_async_multistage",
       .idea =
           "8 x 16 elements a thread in a tile of 128 x 256: half of an SM's registers are sums.",
       .gain =
           "24 elements from shared memory for 128 multiplications instead of 16 for 64, and less "
           "of the loop is anything but multiplications. Eight warps have to hide all latencies.",
       .capability = 80,
       .traffic = {3072, 384, 10240, 0, 768, 0, 4096}});
}

}  // namespace fathom::gemm::fp32::row_major
