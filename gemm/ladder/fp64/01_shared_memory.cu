// Tiles of 16 x 16 doubles of A and of B in shared memory: each is loaded once and read 16 times.
//
// A warp is two rows of the tile. Of A each half-warp reads one double for all of its lanes, of B
// 16 neighbours, 128 bytes. The two rows' doubles lie in the same banks; but nvcc reads two k of A
// at once, 16 bytes, and then none of it conflicts (claim S7). A multiplication takes two elements
// from shared memory, whose bandwidth is the limit.
//
// Source: the fp64 kernel of the notes on shared memory and products of doubles (claims S7, G4).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp64 {
namespace {

constexpr LessonTile tile{16, 16, 16, 256};

__global__ void __launch_bounds__(tile.threads) square_tile_product(LessonProductOf<double> p) {
  alignas(16) __shared__ double tile_a[tile.m][tile.k];
  alignas(16) __shared__ double tile_b[tile.k][tile.n];
  const int row = static_cast<int>(threadIdx.x / 16), column = static_cast<int>(threadIdx.x % 16);
  const std::int64_t c_row = blockIdx.y * tile.m + row;
  const std::int64_t c_column = blockIdx.x * tile.n + column;
  const double* a = p.a + c_row * p.lda + column;
  const double* b = p.b + row * p.ldb + c_column;
  double sum = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    tile_a[row][column] = *a;
    tile_b[row][column] = *b;
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) sum = fma(tile_a[row][k], tile_b[k][column], sum);
    __syncthreads();
  }
  store_element(p, p.c + c_row * p.ldc + c_column, sum);
}

}  // namespace

Lesson shared_memory() {
  return make_lesson<square_tile_product, Order::row_major_x_along_rows, tile>(
      {.name = "01_shared_memory",
       .idea = "A block of 16 x 16 threads stages 16 x 16 tiles of doubles in shared memory; a "
               "thread computes one element.",
       .gain =
           "Each element is read from memory once for 16 uses; but each multiplication still takes "
           "an element of both operands from shared memory, whose bandwidth is the limit.",
       .traffic = {512, 64, 2048, 512, 128, 0, 64}});
}

}  // namespace fathom::gemm::fp64
