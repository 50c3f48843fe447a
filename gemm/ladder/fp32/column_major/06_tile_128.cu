// A tile of 128 x 128, eight deep, and 4 x 16 elements a thread: a warp has all 128 rows of 16
// columns, of which it reads one k of A as 512 neighbouring bytes, and gets B by broadcasts.
//
// 07_double_buffered is the same kernel with two tiles of each operand and one barrier a step. The
// next tile is stored before the present one is multiplied, and no register holds it: only other
// warps hide that a thread waits for global memory.
//
// 09_tile_8x8 is the same kernel with 8 x 8 elements a thread (claim GC9), whose eight rows are two
// vectors of 16 bytes. The next lane's begin 32 bytes further: a store touches every sector of a
// column and writes half of it, and a read of A meets itself in the banks.
//
// Source: kernels `sgemm_128` and `sgemm_128_pipeline` of the column-major ladder (claims GC1 to
// GC13). Both take ldb for ldc (04), and `sgemm_128` lacks the second barrier in the loop (01).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int pitch_b = tile.n + 4;

/// A thread has so many elements.
template <int rows, int columns, int buffers>
__global__ void __launch_bounds__(tile.threads, 2) tile_128_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[buffers][tile.k][tile.m];
  alignas(16) __shared__ float tile_b[buffers][tile.k][pitch_b];
  constexpr int threads_m = tile.m / rows;
  const int row = static_cast<int>(threadIdx.x) % threads_m * rows;
  const int column = static_cast<int>(threadIdx.x) / threads_m * columns;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  const auto load = [&](int buffer, int step) {
    load_tile_vectors<tile.k, tile.m, tile.m, tile.threads>(tile_a[buffer][0], a + step * p.lda,
                                                            p.lda);
    load_elements_transposed<tile.n, tile.threads>(tile_b[buffer], b + step, p.ldb);
  };
  float sums[columns][rows] = {};
  int reading = 0;
  if constexpr (buffers == 2) {
    load(0, 0);
    __syncthreads();
  }
  for (int step = 0; step < p.k; step += tile.k) {
    if constexpr (buffers == 1) {
      load(0, step);
      __syncthreads();
    } else {
      if (step + tile.k < p.k) load(reading ^ 1, step + tile.k);
    }
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      float of_a[rows], of_b[columns];
      load_vectors<rows>(of_a, &tile_a[reading][k][row]);
      load_vectors<columns>(of_b, &tile_b[reading][k][column]);
      outer_product(sums, of_b, of_a);
    }
    __syncthreads();
    if constexpr (buffers == 2) reading ^= 1;
  }
  store_vectors(p, p.c + (c_column + column) * p.ldc + c_row + row, sums);
}

}  // namespace

Lesson tile_128() {
  return make_lesson<tile_128_product<4, 16, 1>, Order::column_major, tile>(
      {.name = "column_major/06_tile_128",
       .parent = "column_major/05_vectorised_64",
       .idea = "A tile of 128 x 128 x 8 and 4 x 16 elements a thread: a warp has all rows of 16 "
               "columns.",
       .gain = "20 elements from shared memory for 64 multiplications instead of eight for 16, "
               "half of the global traffic, and whole columns stored.",
       // One load of A of four wavefronts, four broadcasts of B of two.
       .traffic = {2048, 320, 6144, 0, 512, 0, 2048}});
}

Lesson double_buffered() {
  return make_lesson<tile_128_product<4, 16, 2>, Order::column_major, tile>(
      {.name = "column_major/07_double_buffered",
       .parent = "column_major/06_tile_128",
       .idea = "Two tiles of each operand in shared memory and one barrier a step; no registers "
               "between global and shared memory.",
       .gain = "Half of the barriers. The latency of global memory is still waited for, so that "
               "little is gained.",
       .traffic = {2048, 320, 6144, 0, 512, 0, 2048}});
}

Lesson tile_8x8() {
  return make_lesson<tile_128_product<8, 8, 1>, Order::column_major, tile>(
      {.name = "column_major/09_tile_8x8",
       .parent = "column_major/06_tile_128",
       .idea = "The thread's tile has 8 x 8 elements instead of 4 x 16.",
       .gain = "16 elements from shared memory instead of 20 for 64 multiplications; but a store "
               "covers half of each sector, and reads of A conflict.",
       // Two loads of A of eight wavefronts, two of B of two; a store writes half sectors.
       .traffic = {2048, 320, 10240, 4096, 512, 0, 4096}});
}

}  // namespace fathom::gemm::fp32::column_major
