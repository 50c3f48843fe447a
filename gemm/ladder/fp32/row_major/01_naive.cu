// One thread, one element of C. The lanes of a warp go down a column of C, because threadIdx.x
// counts rows: the mistake that everybody makes first. The load of B is one word for all lanes.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 1 (claims GR1, V11).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{32, 32, 1, 1024, /*any_size=*/true};

__global__ void __launch_bounds__(tile.threads) naive_product(LessonProduct p) {
  const int row = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
  const int column = static_cast<int>(blockIdx.y * 32 + threadIdx.x / 32);
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum = fmaf(p.a[row * p.lda + k], p.b[k * p.ldb + column], sum);
  store_element(p, p.c + row * p.ldc + column, sum);
}

}  // namespace

Lesson naive() {
  return make_lesson<naive_product, Order::row_major, tile>(
      {.name = "row_major/01_naive",
       .idea = "One thread computes one element of C, and a warp's lanes go down a column of C.",
       .gain = "The start. A warp's load of A touches 32 sectors and uses an eighth of each, and "
               "so does its store.",
       // 32 warps, 64 steps, 32 sectors of A and 1 of B; a warp stores a column.
       .traffic = {67584, 4096, 0, 0, 0, 0, 1024}});
}

}  // namespace fathom::gemm::fp32::row_major
