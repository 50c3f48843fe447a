// One thread, one element of C. The lanes of a warp go down a column of C, because threadIdx.x
// counts rows: the mistake that everybody makes first. The load of B is one word for all lanes.
//
// 02_coalesced is the same kernel with rows and columns of a thread exchanged: the lanes of a warp
// go along a row of C. Not one instruction differs. Now the load units are the limit: two loads for
// one multiplication.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernels 1 and 2 (claims GR1,
// GR2, V11).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{32, 32, 1, 1024, /*any_size=*/true};

template <bool coalesced>
__global__ void __launch_bounds__(tile.threads) naive_product(LessonProduct p) {
  const unsigned slow = threadIdx.x / 32, fast = threadIdx.x % 32;
  const int row = static_cast<int>(blockIdx.x * 32 + (coalesced ? slow : fast));
  const int column = static_cast<int>(blockIdx.y * 32 + (coalesced ? fast : slow));
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum = fmaf(p.a[row * p.lda + k], p.b[k * p.ldb + column], sum);
  store_element(p, p.c + row * p.ldc + column, sum);
}

}  // namespace

Lesson naive() {
  return make_lesson<naive_product<false>, Order::row_major, tile>(
      {.name = "row_major/01_naive",
       .idea = "One thread computes one element of C, and a warp's lanes go down a column of C.",
       .gain = "The start. A warp's load of A touches 32 sectors and uses an eighth of each, and "
               "so does its store.",
       // 32 warps, 64 steps, 32 sectors of A and 1 of B; a warp stores a column.
       .traffic = {67584, 4096, 0, 0, 0, 0, 1024}});
}

Lesson coalesced() {
  return make_lesson<naive_product<true>, Order::row_major, tile>(
      {.name = "row_major/02_coalesced",
       .parent = "row_major/01_naive",
       .idea = "A warp's lanes go along a row of C: B and C are read and written in whole sectors, "
               "A is broadcast.",
       .gain = "Five sectors a warp and step instead of 33, from the same instructions: several "
               "times the speed, until the load units are full.",
       .traffic = {10240, 4096, 0, 0, 0, 0, 128}});
}

}  // namespace fathom::gemm::fp32::row_major
