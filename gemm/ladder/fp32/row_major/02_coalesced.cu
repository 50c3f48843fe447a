// Rows and columns of a thread exchanged: a warp's lanes go along a row of C, by the parent's
// instructions. Now the load units are the limit: two loads for one multiplication.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 2 (claims GR2, V11).

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{32, 32, 1, 1024, /*any_size=*/true};

__global__ void __launch_bounds__(tile.threads) coalesced_product(LessonProduct p) {
  const int row = static_cast<int>(blockIdx.x * 32 + threadIdx.x / 32);
  const int column = static_cast<int>(blockIdx.y * 32 + threadIdx.x % 32);
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum = fmaf(p.a[row * p.lda + k], p.b[k * p.ldb + column], sum);
  store_element(p, p.c + row * p.ldc + column, sum);
}

}  // namespace

Lesson coalesced() {
  return make_lesson<coalesced_product, Order::row_major, tile>(
      {.name = "row_major/02_coalesced",
       .parent = "row_major/01_naive",
       .idea = "A warp's lanes go along a row of C: B and C are read and written in whole sectors, "
               "A is broadcast.",
       .gain = "Five sectors a warp and step instead of 33, from the same instructions: several "
               "times the speed, until the load units are full.",
       .traffic = {10240, 4096, 0, 0, 0, 0, 128}});
}

}  // namespace fathom::gemm::fp32::row_major
