// Shared memory and registers both double buffered: the next tile is fetched while the present one
// is multiplied, and the next k's elements are read while the present k's are. It comes in two
// halves, one after the other: 16 registers for both would be more than a thread has left.
//
// A tile of 128 x 128, 16 deep, so that its one barrier comes half as often. A thread's 8 x 8
// elements are four quarters of 4 x 4, 64 rows and columns apart: neighbouring lanes read
// neighbouring 16 bytes, and no read of B conflicts.
//
// Source: the last kernel of the notes on shared memory and products of doubles (claim G2). It
// fetches and stores a thread's whole share at once, and its lines of A are not padded.

#include "gemm/blocks/simt.cuh"

namespace fathom::gemm::fp32::row_major {
namespace {

constexpr LessonTile tile{128, 128, 16, 256, /*any_size=*/false, /*vectors=*/true};
constexpr int side = 8, half = 64;  // of a thread's tile, and between its halves
constexpr int pitch_a = tile.m + 4;
constexpr int halves = 2;  // of a thread's share: 16 bytes of either tile each

__global__ void __launch_bounds__(tile.threads, 2) registers_buffered_product(LessonProduct p) {
  alignas(16) __shared__ float tile_a[2][tile.k][pitch_a];
  alignas(16) __shared__ float tile_b[2][tile.k][tile.n];
  const std::int64_t c_row = blockIdx.y * tile.m, c_column = blockIdx.x * tile.n;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / 16 * 4, column = thread % 16 * 4;
  const int a_line = thread / 4, a_first = thread % 4 * 4;
  const int b_line = thread / 32, b_first = thread % 32 * 4;
  const float* a = p.a + (c_row + a_line) * p.lda + a_first;
  const float* b = p.b + b_line * p.ldb + c_column + b_first;
  // Half of a thread's share at a time: the other buffer is free for the whole step.
  float next_a[4], next_b[4];
  const auto fetch = [&](int i) {
    load_vectors<4>(next_a, a + i * (tile.m / halves) * p.lda);
    load_vectors<4>(next_b, b + i * (tile.k / halves) * p.ldb);
  };
  const auto put = [&](int buffer, int i) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      tile_a[buffer][a_first + j][a_line + i * (tile.m / halves)] = next_a[j];
    *reinterpret_cast<float4*>(&tile_b[buffer][b_line + i * (tile.k / halves)][b_first]) =
        make_float4(next_b[0], next_b[1], next_b[2], next_b[3]);
  };
  float of_a[2][side], of_b[2][side];
  const auto read = [&](int buffer, int k) {
    load_vectors<4>(of_a[k % 2], &tile_a[buffer][k][row]);
    load_vectors<4>(of_a[k % 2] + 4, &tile_a[buffer][k][row + half]);
    load_vectors<4>(of_b[k % 2], &tile_b[buffer][k][column]);
    load_vectors<4>(of_b[k % 2] + 4, &tile_b[buffer][k][column + half]);
  };
  float sums[side][side] = {};
  for (int i = 0; i < halves; ++i) {
    fetch(i);
    put(0, i);
  }
  __syncthreads();
  read(0, 0);
  int reading = 0;
  for (int step = 0; step < p.k; step += tile.k) {
    const bool more = step + tile.k < p.k;
    if (more) {
      a += tile.k;
      b += tile.k * p.ldb;
      fetch(0);
    }
#pragma unroll
    for (int k = 0; k < tile.k; ++k) {
      if (k == tile.k / halves && more) {
        put(reading ^ 1, 0);
        fetch(1);
      }
      if (k + 1 < tile.k) {
        read(reading, k + 1);
      } else if (more) {
        reading ^= 1;
        put(reading, 1);
        __syncthreads();
        read(reading, 0);
      }
      outer_product(sums, of_a[k % 2], of_b[k % 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
    float* const c = p.c + (c_row + row + i / 4 * half + i % 4) * p.ldc + c_column + column;
    store_vector(p, c, &sums[i][0]);
    store_vector(p, c + half, &sums[i][4]);
  }
}

}  // namespace

Lesson registers_buffered() {
  return make_lesson<registers_buffered_product, Order::row_major_x_along_rows, tile>(
      {.name = "row_major/14_registers_buffered",
       .parent = "row_major/09_vectorised",
       .idea = "A tile 16 deep, fetched one step ahead; a thread's elements of the next k are read "
               "one product ahead, in two halves of four.",
       .gain = "One barrier for 16 of k instead of two for eight, and neither global nor shared "
               "memory is waited for.",
       // Two loads of A of two wavefronts, two of B of four. A's lines are padded to 16
       // bytes, so that k four apart meet in two places: two wavefronts a store.
       .traffic = {2048, 128, 6144, 0, 768, 256, 2048}});
}

}  // namespace fathom::gemm::fp32::row_major
