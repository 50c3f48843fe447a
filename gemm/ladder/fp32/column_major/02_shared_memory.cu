// The sums move to registers: a thread computes four elements of C, eight columns apart, and a warp
// 32 rows of a column. A multiplication takes two shared loads, one of them a broadcast that the
// compiler can take four k of at once.
//
// 08_staged_registers is the same kernel with A's elements of a step staged by hand in an array of
// registers. All four columns of a thread multiply the same 32 elements of A. Unstaged, the
// compiler, whose loops are unrolled, reads each once all the same (claim GC8, and the source's
// remark on `reg[32]`): compare the speed and the registers.
//
// Source: kernel `sgemm_shared` of the column-major ladder (claims GC1 to GC13).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::column_major {
namespace {

constexpr LessonTile tile{32, 32, 32, 256};
constexpr int warps = tile.threads / 32, per_thread = 4;

template <bool staged>
__global__ void __launch_bounds__(tile.threads) shared_memory_product(LessonProduct p) {
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
    float of_a[tile.k];
    if constexpr (staged) {
#pragma unroll
      for (int k = 0; k < tile.k; ++k) of_a[k] = tile_a[k][lane];
    }
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#pragma unroll
      for (int k = 0; k < tile.k; ++k)
        sums[i] = fmaf(staged ? of_a[k] : tile_a[k][lane], tile_b[warp + i * warps][k], sums[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i)
    store_element(p, p.c + (c_column + warp + i * warps) * p.ldc + c_row + lane, sums[i]);
}

}  // namespace

Lesson shared_memory() {
  return make_lesson<shared_memory_product<false>, Order::column_major, tile>(
      {.name = "column_major/02_shared_memory",
       .parent = "column_major/01_naive",
       .idea = "The sums move to registers: a thread computes four elements of C, a warp 32 rows "
               "of a column.",
       .gain = "No shuffles and no sums in shared memory: about a third of the accesses to it.",
       .traffic = {512, 128, 4096, 0, 128, 0, 128}});
}

Lesson staged_registers() {
  return make_lesson<shared_memory_product<true>, Order::column_major, tile>(
      {.name = "column_major/08_staged_registers",
       .parent = "column_major/02_shared_memory",
       .idea = "A thread reads its 32 elements of A's tile into an array before it multiplies.",
       .gain = "Nothing: the loops are unrolled, and the compiler keeps what four columns share in "
               "registers already.",
       .traffic = {512, 128, 2560, 0, 128, 0, 128}});
}

}  // namespace fathom::gemm::fp32::column_major
