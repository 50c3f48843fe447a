// The parent's kernel with its sizes as parameters: a list of tilings, each of which is run; the
// fastest is taken. Nothing here knows why one is faster.
//
// Larger tiles read less global memory, deeper ones have fewer barriers, smaller ones fill more SMs
// and leave less of the last wave empty. Which wins depends on the GPU and on the product's size.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 9 (claim GR10).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

/// A block's tile of m x n x k, `rows` x `columns` elements a thread.
template <int m, int n, int k, int rows, int columns>
__global__ void __launch_bounds__(m / rows * (n / columns)) autotuned_product(LessonProduct p) {
  constexpr int threads = m / rows * (n / columns), pitch_a = m + 4;
  alignas(16) __shared__ float tile_a[k][pitch_a], tile_b[k][n];
  const std::int64_t c_row = blockIdx.y * m, c_column = blockIdx.x * n;
  const int row = static_cast<int>(threadIdx.x) / (n / columns) * rows;
  const int column = static_cast<int>(threadIdx.x) % (n / columns) * columns;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[rows][columns] = {};
  for (int step = 0; step < p.k; step += k) {
    load_tile_transposed<m, k, pitch_a, threads>(tile_a[0], a, p.lda);
    load_tile_vectors<k, n, n, threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += k;
    b += k * p.ldb;
#pragma unroll
    for (int i = 0; i < k; ++i) {
      float of_a[rows], of_b[columns];
      load_vectors<rows>(of_a, &tile_a[i][row]);
      load_vectors<columns>(of_b, &tile_b[i][column]);
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
  store_vectors(p, p.c + (c_row + row) * p.ldc + c_column + column, sums);
}

template <int m, int n, int k, int rows, int columns>
Lesson by() {
  constexpr LessonTile tile{
      m, n, k, m / rows * (n / columns), /*any_size=*/false, /*vectors=*/true};
  return make_lesson<autotuned_product<m, n, k, rows, columns>, Order::row_major_x_along_rows,
                     tile>(
      {.name = "row_major/10_autotuned",
       .parent = "row_major/09_vectorised",
       .idea =
           "Seven tilings of the parent's kernel, of which the fastest is found by running them.",
       .gain = "What a tile saves in traffic and barriers against what it costs in registers and "
               "idle SMs, decided by the clock and not by a model.",
       .traffic = {2048, 128, 10240, 4096, 512, 0, 4096}});
}

}  // namespace

Lesson autotuned() {
  Lesson lesson = by<128, 128, 8, 8, 8>();
  lesson.variants = {by<128, 128, 8, 8, 8>(), by<128, 128, 16, 8, 8>(), by<128, 64, 16, 8, 8>(),
                     by<64, 128, 16, 8, 8>(), by<64, 64, 16, 8, 8>(),   by<64, 64, 16, 4, 4>(),
                     by<256, 128, 16, 8, 8>()};
  return lesson;
}

}  // namespace fathom::gemm::fp32::row_major
