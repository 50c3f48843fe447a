// Eight by eight elements a thread in a tile of 128 x 128, all accesses by 16 bytes: an outer
// product of two fragments in registers. A thread's columns are four pairs, 32 columns apart, and
// so are its rows: neighbouring threads read neighbouring pairs, without a conflict. Two doubles
// between the lines of A spread its transposed store over all banks.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp64 {
namespace {

constexpr LessonTile tile{128, 128, 8, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int side = 8;  // of a thread's tile
constexpr int pitch_a = tile.m + 2;

/// Four pairs, 32 elements apart.
__device__ inline void load_pairs(double (&to)[side], const double* from) {
#pragma unroll
  for (int i = 0; i < side; i += 2) {
    const double2 x = *reinterpret_cast<const double2*>(from + i / 2 * 32);
    to[i] = x.x, to[i + 1] = x.y;
  }
}

__global__ void __launch_bounds__(tile.threads, 1)
    register_tile_product(LessonProductOf<double> p) {
  alignas(16) __shared__ double tile_a[tile.k][pitch_a];
  alignas(16) __shared__ double tile_b[tile.k][tile.n];
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / 16 * 2, column = thread % 16 * 2;  // of a thread's first pairs
  const int line = thread / 4, pair = thread % 4 * 2;         // that it loads of A
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const double* a = p.a + (c_row + line) * p.lda + pair;
  const double* b = p.b + c_column;
  double sums[side][side] = {};
  for (int step = 0; step < p.k; step += tile.k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const double2 x = *reinterpret_cast<const double2*>(a + half * 64 * p.lda);
      tile_a[pair][line + half * 64] = x.x;
      tile_a[pair + 1][line + half * 64] = x.y;
    }
    load_tile_vectors<tile.k, tile.n, tile.n, tile.threads>(tile_b[0], b, p.ldb);
    __syncthreads();
    a += tile.k;
    b += tile.k * p.ldb;
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      double of_a[side], of_b[side];
      load_pairs(of_a, &tile_a[k][row]);
      load_pairs(of_b, &tile_b[k][column]);
      outer_product(sums, of_a, of_b);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
    double* const c = p.c + (c_row + row + i / 2 * 32 + i % 2) * p.ldc + c_column + column;
#pragma unroll
    for (int j = 0; j < side; j += 2) store_vector(p, c + j / 2 * 32, sums[i][j], sums[i][j + 1]);
  }
}

}  // namespace

Lesson register_tile() {
  return make_lesson<register_tile_product, Order::row_major_x_along_rows, tile>(
      {.name = "02_register_tile",
       .parent = "01_shared_memory",
       .idea = "A thread computes 8 x 8 elements as an outer product of two fragments in "
               "registers; the block tile is 128 x 128 x 8.",
       .gain = "Sixteen elements from shared memory for 64 multiplications instead of two for one, "
               "an eighth of the global traffic: the FP64 pipes, half of the tensor cores' rate, "
               "become the limit.",
       // Four loads of A of two wavefronts, four of B of four.
       .traffic = {4096, 256, 12288, 0, 1024, 0, 4096}});
}

}  // namespace fathom::gemm::fp64
