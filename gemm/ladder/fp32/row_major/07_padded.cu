// The parent's bank conflicts go by an offset: after 32 floats of a line of B four words are empty.
//
// A thread reads eight words as twice 16 bytes, the next thread eight words further. A quarter of a
// warp, which is served at once, spans 64 words, so that its two halves met in the same banks; now
// the second half is four words further, in the banks between: two loads, half of the wavefronts.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 8 ("offset"; GR7). It
// lengthens whole lines instead, which shifts all lanes of a read alike.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256};
constexpr int side = 8;  // of a thread's tile

/// Where column `n` lies in its line.
__device__ constexpr int offset(int n) { return n + n / 32 * 4; }

__global__ void __launch_bounds__(tile.threads, 2) padded_product(LessonProduct p) {
  __shared__ float tile_a[tile.m][tile.k];
  alignas(16) __shared__ float tile_b[tile.k][offset(tile.n)];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / (tile.n / side) * side;
  const int column = static_cast<int>(threadIdx.x) % (tile.n / side) * side;
  const float* a = p.a + c_row * p.lda;
  const float* b = p.b + c_column;
  float sums[side][side] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.m, tile.k, tile.k, tile.threads>(tile_a[0], a, p.lda);
    float share[tile.k * tile.n / tile.threads];
    fetch_tile<tile.k, tile.n, tile.threads>(share, b, p.ldb);
#pragma unroll
    for (int i = 0; i < tile.k * tile.n / tile.threads; ++i) {
      const int number = static_cast<int>(threadIdx.x) + i * tile.threads;
      tile_b[number / tile.n][offset(number % tile.n)] = share[i];
    }
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll 2
    for (int k = 0; k < tile.k; ++k) {
      float of_a[side], of_b[side];
#pragma unroll
      for (int i = 0; i < side; ++i) of_a[i] = tile_a[row + i][k];
      load_vectors<side>(of_b, &tile_b[k][offset(column)]);
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
  store_elements(p, p.c + (c_row + row) * p.ldc + c_column + column, sums);
}

}  // namespace

Lesson padded() {
  return make_lesson<padded_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/07_padded",
       .parent = "row_major/05_tile_2d",
       .idea = "After every 32 floats of a line of B four words stay empty.",
       .gain = "A quarter-warp's 16-byte reads of B fall into all 32 banks instead of half of "
               "them: half of the wavefronts, from the same instructions.",
       .traffic = {2048, 512, 12288, 4096, 512, 0, 16384}});
}

}  // namespace fathom::gemm::fp32::row_major
