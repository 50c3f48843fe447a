// The same tile on the tensor cores: eight warps of 64 x 32 multiply 8 x 8 x 4 at a time
// (mma.sync.m8n8k4), which every GPU with fp64 tensor cores can.
//
// Four k of a warp's tile take 12 loads and 32 products instead of 64 loads and 256 FMAs: one
// instruction for eight. An A100 does them at twice the rate of its FP64 pipes. Hopper's pipes are
// twice as many, and its tensor cores do no more by products this small: nothing is won
// there but instructions. Lines of either tile are padded by four doubles: of the half-warp that
// reads four rows at four k each row, or each k, starts in other banks.

#include "gemm/blocks/dmma.cuh"
#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp64 {
namespace {

constexpr LessonTile tile{128, 128, 16, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int pitch_a = tile.k + 4, pitch_b = tile.n + 4;

__global__ void __launch_bounds__(tile.threads, 1) tensor_cores_product(LessonProductOf<double> p) {
  alignas(16) __shared__ double tile_a[tile.m][pitch_a];
  alignas(16) __shared__ double tile_b[tile.k][pitch_b];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp % 2 * 64, warp_column = warp / 2 * 32;
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const double* a = p.a + c_row * p.lda;
  const double* b = p.b + c_column;
  double sums[8][4][2] = {};
  for (int step = 0; step < p.k; step += tile.k) {
    load_tile_vectors<tile.m, tile.k, pitch_a, tile.threads>(tile_a[0], a, p.lda);
    load_tile_vectors<tile.k, tile.n, pitch_b, tile.threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
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
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t row = c_row + warp_row + i * 8 + lane / 4;
    double* const c = p.c + row * p.ldc + c_column + warp_column + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 4; ++j) store_vector(p, c + j * 8, sums[i][j][0], sums[i][j][1]);
  }
}

}  // namespace

Lesson tensor_cores() {
  return make_lesson<tensor_cores_product, View::row_major_x_along_rows, tile>(
      {.name = "03_tensor_cores",
       .parent = "02_register_tile",
       .idea = "mma.sync.m8n8k4: a warp multiplies 64 x 32 x 4 by 32 products of 8 x 8 x 4 on the "
               "tensor cores.",
       .gain = "Four k of a 64 x 32 tile take 12 loads and 32 products of a warp instead of 64 "
               "loads and 256 FMAs: one instruction for eight. The rate is the FP64 pipes' on "
               "Hopper, twice theirs on an A100.",
       .capability = 80});
}

}  // namespace fathom::gemm::fp64
