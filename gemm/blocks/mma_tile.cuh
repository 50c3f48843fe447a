#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/blocks/chunk_copy.cuh"
#include "gemm/blocks/mma_sync.cuh"
#include "gemm/blocks/staged_rows.cuh"
#include "gemm/blocks/tensor_types.cuh"

namespace fathom::gemm {

/// Where a lane reads a block of 16 (m or n) by 16 of k, four 8 x 8 matrices, from a tile in shared
/// memory that has the copier's layout. Matrices 0 and 1 are the two halves of m where
/// `along_outer`, as the first operand's fragment wants them, else those of k, as the second's
/// does.
template <class Layout, Major major, bool along_outer>
class MatrixRows {
 public:
  /// Blocks from `first_outer` of the tile on, a multiple of what a warp has of it.
  __device__ explicit MatrixRows(int first_outer) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int inner = lane / 8 % 2, outer = lane / 16;
    const int of_outer = first_outer + (along_outer ? inner : outer) * 8;
    const int of_k = (along_outer ? outer : inner) * 8;
    offset_ = Layout::offset((major == Major::k ? of_outer : of_k) + lane % 8,
                             (major == Major::k ? of_k : of_outer) / 8);
  }

  /// Reads block `block`, `step` blocks down k.
  __device__ void read(std::uint32_t (&r)[4], std::uint32_t tile, int block, int step) const {
    const int down = major == Major::k ? block : step, right = major == Major::k ? step : block;
    load_matrices<major == Major::outer>(r, tile + Layout::moved(offset_, down * 16, right * 2));
  }

 private:
  int offset_;  ///< of block 0 and step 0
};

/// A warp's part of a block's tile, Tile::warp_m x Tile::warp_n, by ldmatrix and mma.sync from
/// swizzled tiles in shared memory.
template <class Element, class Tile, Major a_major, Major b_major>
class MmaTile {
  static constexpr int rows = Tile::warp_m / 16, columns = Tile::warp_n / 16;

 public:
  using CopyA = CopyOfA<Element, Tile, a_major, SwizzledChunks>;
  using CopyB = CopyOfB<Element, Tile, b_major, SwizzledChunks>;
  using Rows = StagedRows<Tile::warp_n>;
  static constexpr int steps = Tile::k / 16;  ///< of a tile

  /// What 16 of k take.
  struct Fragment {
    std::uint32_t a[rows][4], b[columns][4];
  };

  __device__ MmaTile() : MmaTile(warp_place<Tile>()) {}

  __device__ void read(Fragment& f, std::uint32_t tile_a, std::uint32_t tile_b, int step) const {
#pragma unroll
    for (int i = 0; i < rows; ++i) a_.read(f.a[i], tile_a, i, step);
#pragma unroll
    for (int j = 0; j < columns; ++j) b_.read(f.b[j], tile_b, j, step);
  }

  /// Serpentine order: where it turns, B's fragment is used for two rows in a row.
  __device__ void add(const Fragment& f) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * columns; ++j) {
        const int turned = i % 2 == 0 ? j : 2 * columns - 1 - j;
        multiply_add<Element>(sums_[i][turned], f.a[i], f.b[turned / 2][turned % 2 * 2],
                              f.b[turned / 2][turned % 2 * 2 + 1]);
      }
    }
  }

  /// Adds the products of a whole tile.
  __device__ void multiply(const std::byte* tile_a, const std::byte* tile_b) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      Fragment f;
      read(f, shared_address(tile_a), shared_address(tile_b), step);
      add(f);
    }
  }

  /// Stores the warp's part of the tile at (tile_row, tile_column) of C by way of `staged`.
  __device__ void store(float* staged, const Product<Element, Element, float>& p, int tile_row,
                        int tile_column, bool vectors) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const own = staged + lane / 4 * Rows::pitch + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * columns; ++j) {
        const float(&s)[4] = sums_[i][j];
        *reinterpret_cast<float2*>(own + j * 8) = make_float2(s[0], s[1]);
        *reinterpret_cast<float2*>(own + 8 * Rows::pitch + j * 8) = make_float2(s[2], s[3]);
      }
      Rows::store(staged, p, tile_row + place_.m + i * 16, tile_column + place_.n, vectors);
    }
  }

 private:
  __device__ explicit MmaTile(WarpPlace place) : place_(place), a_(place.m), b_(place.n) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * columns; ++j) {
#pragma unroll
        for (int x = 0; x < 4; ++x) sums_[i][j][x] = 0;
      }
    }
  }

  WarpPlace place_;
  MatrixRows<typename CopyA::Layout, a_major, true> a_;
  MatrixRows<typename CopyB::Layout, b_major, false> b_;
  float sums_[rows][2 * columns][4];
};

}  // namespace fathom::gemm
