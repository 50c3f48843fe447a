// A warp has a tile of its own, 64 x 32, and its lanes are laid out in it to avoid bank conflicts.

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/thread_tile.cuh"
#include "gemm/blocks/vector_load.cuh"
#include "gemm/fp32/fallback.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

struct Tile {
  using Threads = ThreadTile<128, 128, 8, 8, 2, 4, 8>;
  static constexpr int m = 128, n = 128, k = 8, threads = Threads::threads;
  static constexpr int pitch_a = m + 4, pitch_b = n;
};

__global__ void __launch_bounds__(Tile::threads, 2)
    warp_tile_product(Product<float> p, int tiles_n) {
  __shared__ float4 shared_a[2][Tile::k * Tile::pitch_a / 4],
      shared_b[2][Tile::k * Tile::pitch_b / 4];
  const auto tile_a = [&](int i) { return reinterpret_cast<float*>(shared_a[i]); };
  const auto tile_b = [&](int i) { return reinterpret_cast<float*>(shared_b[i]); };
  const int tile_row = static_cast<int>(blockIdx.x) / tiles_n * Tile::m;
  const int tile_column = static_cast<int>(blockIdx.x) % tiles_n * Tile::n;
  VectorLoad<Tile, Tile::pitch_a, Tile::pitch_b> load(p, tile_row, tile_column);
  load.load();
  load.store(tile_a(0), tile_b(0));
  __syncthreads();
  const Tile::Threads threads;
  Tile::Threads::Sums sums;
  Tile::Threads::Fragment fragment[2];
  const auto read = [&](int buffer, int k, Tile::Threads::Fragment& f) {
    f.load(tile_a(buffer) + k * Tile::pitch_a + threads.row,
           tile_b(buffer) + k * Tile::pitch_b + threads.column);
  };
  read(0, 0, fragment[0]);
  int reading = 0;
  for (int step = 0; step < p.k; step += Tile::k) {
    const bool more = step + Tile::k < p.k;
    if (more) load.load();
#pragma unroll
    for (int k = 0; k < Tile::k; ++k) {
      if (k + 1 < Tile::k) {
        read(reading, k + 1, fragment[(k + 1) % 2]);
      } else if (more) {
        reading ^= 1;
        load.store(tile_a(reading), tile_b(reading));
        __syncthreads();
        read(reading, 0, fragment[0]);
      }
      sums.add(fragment[k % 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; j += 4)
      store_vector(p, tile_row + threads.row + Tile::Threads::row_of(i),
                   tile_column + threads.column + Tile::Threads::column_of(j), &sums.c[i][j]);
  }
}

}  // namespace

Rung warp_tile() {
  Rung rung;
  rung.id = "fp32/19_warp_tile";
  rung.of = Class::fp32;
  rung.idea =
      "Each warp computes a tile of 64 x 32, its lanes 8 x 4, a lane's rows and columns in groups "
      "of four.";
  rung.gain =
      "A warp reads 96 different elements a step instead of 144, neighbouring lanes read "
      "neighbouring 16 bytes, and each such read takes two wavefronts.";
  rung.claims = {"GR11", "S5"};
  compute_whole_tiles<Tile, warp_tile_product, launch_fallback>(rung);
  return rung;
}

}  // namespace fathom::gemm::fp32
