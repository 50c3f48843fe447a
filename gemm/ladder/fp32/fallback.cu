// Any product: 64 x 64 tiles, 4 x 4 elements a thread, steps of 16, every index checked. Not a
// lesson: it computes what the lessons' kernels leave out, so that those can show their idea and
// nothing else.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm {

__global__ void __launch_bounds__(fallback_threads) fallback_product(LessonProduct p) {
  constexpr int side = fallback_tile, step = 16;
  __shared__ float tile_a[step][side + 2], tile_b[step][side];
  const int tiles_n = (p.n + side - 1) / side, thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) / tiles_n * side;
  const int column = static_cast<int>(blockIdx.x) % tiles_n * side;
  const int thread_row = thread / 16 * 4, thread_column = thread % 16 * 4;
  const std::int64_t a_row = p.a_transposed ? 1 : p.lda, a_column = p.a_transposed ? p.lda : 1;
  const std::int64_t b_row = p.b_transposed ? 1 : p.ldb, b_column = p.b_transposed ? p.ldb : 1;
  float sums[4][4] = {};
  for (int first = 0; first < p.k; first += step) {
#pragma unroll
    for (int i = thread; i < side * step; i += fallback_threads) {
      const int r = row + i / step, k = first + i % step;
      tile_a[i % step][i / step] = r < p.m && k < p.k ? p.a[r * a_row + k * a_column] : 0.0f;
    }
#pragma unroll
    for (int i = thread; i < side * step; i += fallback_threads) {
      const int k = first + i / side, c = column + i % side;
      tile_b[i / side][i % side] = k < p.k && c < p.n ? p.b[k * b_row + c * b_column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < step; ++k) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = tile_a[k][thread_row + i];
        b[i] = tile_b[k][thread_column + i];
      }
      outer_product(sums, a, b);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int r = row + thread_row + i, c = column + thread_column + j;
      if (r < p.m && c < p.n) store_element(p, p.c + r * p.ldc + c, sums[i][j]);
    }
  }
}

}  // namespace fathom::gemm
