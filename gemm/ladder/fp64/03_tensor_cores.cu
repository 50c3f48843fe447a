// The same tile on the tensor cores: eight warps of 64 x 32 multiply 8 x 8 x 4 at a time
// (mma.sync.m8n8k4), which every GPU with fp64 tensor cores can.
//
// Hopper's FP64 pipes are twice an A100's, and its tensor cores do no more by products this small:
// nothing is won there but instructions. Lines of either tile are padded by four doubles: of the
// half-warp that reads four rows at four k each row, or each k, starts in other banks.
//
// 04_wide_products is the same kernel with products of 16 x 8 x 16, eight times as large, which
// Hopper brought (mma.sync.m16n8k16): a stage of 16 k is one step of them. A lane has eight
// elements of A, two rows at four k, and four of B.

#include "gemm/blocks/dmma.cuh"
#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp64 {
namespace {

constexpr LessonTile tile{128, 128, 16, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int pitch_a = tile.k + 4, pitch_b = tile.n + 4;

template <bool wide>
__global__ void __launch_bounds__(tile.threads, 1) tensor_cores_product(LessonProductOf<double> p) {
  alignas(16) __shared__ double tile_a[tile.m][pitch_a];
  alignas(16) __shared__ double tile_b[tile.k][pitch_b];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp % 2 * 64, warp_column = warp / 2 * 32;
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const double* a = p.a + c_row * p.lda;
  const double* b = p.b + c_column;
  double sums[wide ? 4 : 8][4][wide ? 4 : 2] = {};  // of 16 x 8 elements, or of 8 x 8
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile_vectors<tile.m, tile.k, pitch_a, tile.threads>(tile_a[0], a, p.lda);
    load_tile_vectors<tile.k, tile.n, pitch_b, tile.threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
    if constexpr (wide) {
      double of_b[4][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          of_b[j][e] = tile_b[e * 4 + lane % 4][warp_column + j * 8 + lane / 4];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        double of_a[8];
#pragma unroll
        for (int e = 0; e < 8; ++e)
          of_a[e] = tile_a[warp_row + i * 16 + e % 2 * 8 + lane / 4][e / 2 * 4 + lane % 4];
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply_16x8x16(sums[i][j], of_a, of_b[j]);
      }
    } else {
#pragma unroll
      for (int k = 0; k < tile.k; k += 4) {
        double of_a[8], of_b[4];
#pragma unroll
        for (int i = 0; i < 8; ++i) of_a[i] = tile_a[warp_row + i * 8 + lane / 4][k + lane % 4];
#pragma unroll
        for (int j = 0; j < 4; ++j) of_b[j] = tile_b[k + lane % 4][warp_column + j * 8 + lane / 4];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) multiply_8x8x4(sums[i][j], of_a[i], of_b[j]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t row = c_row + warp_row + i * 8 + lane / 4;
    double* const c = p.c + row * p.ldc + c_column + warp_column + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      constexpr int blocks = wide ? 2 : 1;  // of 8 rows
      const double* const s = &sums[i / blocks][j][i % blocks * 2];
      store_vector(p, c + j * 8, s[0], s[1]);
    }
  }
}

}  // namespace

Lesson tensor_cores() {
  return make_lesson<tensor_cores_product<false>, Order::row_major_x_along_rows, tile>(
      {.name = "03_tensor_cores",
       .parent = "02_register_tile",
       .idea = "mma.sync.m8n8k4: a warp multiplies 64 x 32 x 4 by 32 products of 8 x 8 x 4 on the "
               "tensor cores.",
       .gain = "Four k of a 64 x 32 tile take 12 loads and 32 products of a warp instead of 64 "
               "loads and 256 FMAs: one instruction for eight. The rate is the FP64 pipes' on "
               "Hopper, twice theirs on an A100.",
       .capability = 80});
}

Lesson wide_products() {
  return make_lesson<tensor_cores_product<true>, Order::row_major_x_along_rows, tile>(
      {.name = "04_wide_products",
       .parent = "03_tensor_cores",
       .idea = "mma.sync.m16n8k16: the same tile by products of 16 x 8 x 16.",
       .gain = "Hopper's tensor cores do 128 multiplications a clock and SM by these and 64 by "
               "those of 8 x 8 x 4 (measured by the probe instructions); but while a tile is "
               "fetched nobody multiplies.",
       .capability = 90});
}

}  // namespace fathom::gemm::fp64
