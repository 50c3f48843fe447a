// The parent's kernel with A's elements of a step staged by hand in an array of registers.
//
// All four columns of a thread multiply the same 32 elements of A. The parent reads them where it
// multiplies, and the compiler, whose loops are unrolled, reads each once all the same. To be
// compared are the speed and the registers.
//
// Source: the column-major ladder's remark on `reg[32]` (claim GC8).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 256};
constexpr int warps = tile.threads / 32, per_thread = 4;

__global__ void __launch_bounds__(tile.threads) staged_registers_product(LessonProduct p) {
  __shared__ float tile_a[tile.k][tile.m], tile_b[tile.n][tile.k];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t c_row = blockIdx.x * tile.m, c_column = blockIdx.y * tile.n;
  const float* a = p.a + c_row;
  const float* b = p.b + c_column * p.ldb;
  float sums[per_thread] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile<tile.k, tile.m, tile.m, tile.threads>(tile_a[0], a + step * p.lda, p.lda);
    load_tile<tile.n, tile.k, tile.k, tile.threads>(tile_b[0], b + step, p.ldb);
    __syncthreads();
    float staged[tile.k];
#pragma unroll
    for (int k = 0; k < tile.k; ++k) staged[k] = tile_a[k][lane];
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#pragma unroll
      for (int k = 0; k < tile.k; ++k)
        sums[i] = fmaf(staged[k], tile_b[warp + i * warps][k], sums[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i)
    store_element(p, p.c + (c_column + warp + i * warps) * p.ldc + c_row + lane, sums[i]);
}

}  // namespace

Lesson staged_registers() {
  return make_lesson<staged_registers_product, View::column_major, tile>(
      {.name = "column_major/08_staged_registers",
       .parent = "column_major/02_shared_memory",
       .idea = "A thread reads its 32 elements of A's tile into an array before it multiplies.",
       .gain = "Nothing: the loops are unrolled, and the compiler keeps what four columns share in "
               "registers already.",
       .claims = {"GC8"}});
}

}  // namespace fathom::gemm::fp32::column_major
