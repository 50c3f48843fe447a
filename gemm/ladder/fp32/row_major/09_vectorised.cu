// Every access to memory has 16 bytes. A is stored transposed, so that a thread's eight rows of one
// k are neighbours in shared memory. Four words more a line of A spread its transposed store over
// all banks. B's reads conflict as before (lesson 07), and the warp tile (11) ends that.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 6 (claim GR9).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int side = 8;  // of a thread's tile
constexpr int pitch_a = tile.m + 4;

__global__ void __launch_bounds__(tile.threads, 2) vectorised_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[tile.k][pitch_a];
  alignas(16) __shared__ float tile_b[tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int row = static_cast<int>(threadIdx.x) / (tile.n / side) * side;
  const int column = static_cast<int>(threadIdx.x) % (tile.n / side) * side;
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
      load_vectors<side>(of_a, &tile_a[k][row]);
      load_vectors<side>(of_b, &tile_b[k][column]);
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
  store_vectors(p, p.c + (c_row + row) * p.ldc + c_column + column, sums);
}

}  // namespace

Lesson vectorised() {
  return make_lesson<vectorised_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/09_vectorised",
       .parent = "row_major/05_tile_2d",
       .idea = "Global and shared memory are read and written by 16 bytes; A is transposed as it "
               "is stored.",
       .gain = "Four shared loads for 64 multiplications instead of ten, and a quarter of the "
               "global ones: issue slots for multiplications.",
       .traffic = {2048, 128, 10240, 4096, 512, 0, 4096}});
}

}  // namespace fathom::gemm::fp32::row_major
