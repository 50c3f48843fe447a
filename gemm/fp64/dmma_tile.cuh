#pragma once

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/dmma.cuh"
#include "gemm/blocks/padded_layout.cuh"

namespace fathom::gemm::fp64 {

/// A tile of 128 x 128 x Depth that eight warps multiply on the tensor cores, 64 x 32 each, with
/// the loads of the tiles before (gemm/blocks/block_tile.cuh): element-wise, every index checked.
/// `Wide`: by products of 16 x 8 x 16, else of 8 x 8 x 4.
///
/// Lines of k are padded by four doubles: of a fragment's half-warp, four rows at four k, each k
/// starts in other four places.
template <int Depth, bool Wide>
class DmmaTile {
  using Loads = BlockTile<128, 128, Depth, 8, 8, PaddedLayout, PaddedLayout, SameTypes<double>>;

 public:
  using P = Product<double>;
  using Shared = typename Loads::Shared;
  using ElementLoad = typename Loads::ElementLoad;
  static constexpr int m = 128, n = 128, k = Depth, threads = Loads::threads;

  __device__ void multiply(const Shared& s) {
#pragma unroll
    for (int step = 0; step < Depth; step += step_k) {
      double a[blocks_m][of_a], b[blocks_n][of_b];
#pragma unroll
      for (int i = 0; i < blocks_m; ++i) {
#pragma unroll
        for (int e = 0; e < of_a; ++e)
          a[i][e] = line(s.a, step + e / (rows / 8) * 4)[row_ + i * rows + e % (rows / 8) * 8];
      }
#pragma unroll
      for (int j = 0; j < blocks_n; ++j) {
#pragma unroll
        for (int e = 0; e < of_b; ++e) b[j][e] = line(s.b, step + e * 4)[column_ + j * 8];
      }
#pragma unroll
      for (int i = 0; i < blocks_m; ++i) {
#pragma unroll
        for (int j = 0; j < blocks_n; ++j) {
          if constexpr (Wide) {
            multiply_16x8x16(sums_[i][j], a[i], b[j]);
          } else {
            multiply_8x8x4(sums_[i][j], a[i][0], b[j][0]);
          }
        }
      }
    }
  }

  __device__ void store(const P& p, int tile_row, int tile_column) const {
#pragma unroll
    for (int i = 0; i < blocks_m; ++i) {
#pragma unroll
      for (int j = 0; j < blocks_n; ++j) {
#pragma unroll
        for (int e = 0; e < rows / 4; ++e) {
          const int row = tile_row + row_ + i * rows + e / 2 * 8;
          const int column = tile_column + column_ - lane_row() + j * 8 + lane_k() * 2 + e % 2;
          if (row < p.m && column < p.n) store_element(p, row, column, sums_[i][j][e]);
        }
      }
    }
  }

 private:
  static constexpr int rows = Wide ? 16 : 8, step_k = Wide ? 16 : 4;
  static constexpr int of_a = rows * step_k / 32, of_b = 8 * step_k / 32;
  static constexpr int blocks_m = 64 / rows, blocks_n = 4;
  static_assert(Depth % step_k == 0);

  static __device__ int lane_row() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  static __device__ int lane_k() { return static_cast<int>(threadIdx.x) % 4; }
  /// This lane's line of four from line `k` on.
  static __device__ const double* line(const double* tile, int k) {
    return tile + (k + lane_k()) * (128 + PaddedLayout::padding);
  }

  int row_ = static_cast<int>(threadIdx.x) / 32 % 2 * 64 + lane_row();
  int column_ = static_cast<int>(threadIdx.x) / 64 * 32 + lane_row();
  double sums_[blocks_m][blocks_n][rows / 4] = {};
};

}  // namespace fathom::gemm::fp64
