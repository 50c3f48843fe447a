#pragma once

#include <mma.h>

#include <cstddef>
#include <type_traits>

#include "gemm/blocks/chunk_copy.cuh"
#include "gemm/blocks/staged_rows.cuh"
#include "gemm/blocks/tensor_types.cuh"

// Products by nvcuda::wmma: fragments of 16 x 16 whose elements belong to lanes that nobody names, so that
// they are loaded from memory and stored there as a whole.

namespace fathom::gemm {

inline constexpr int wmma_side = 16;

/// Fragments of the first operand, 16 x 16 of k, and of the second, 16 of k x 16, as they lie in memory.
template <class Element, Major major>
using WmmaA = nvcuda::wmma::fragment<
    nvcuda::wmma::matrix_a, wmma_side, wmma_side, wmma_side, Element,
    std::conditional_t<major == Major::k, nvcuda::wmma::row_major, nvcuda::wmma::col_major>>;
template <class Element, Major major>
using WmmaB = nvcuda::wmma::fragment<
    nvcuda::wmma::matrix_b, wmma_side, wmma_side, wmma_side, Element,
    std::conditional_t<major == Major::k, nvcuda::wmma::col_major, nvcuda::wmma::row_major>>;
using WmmaSums =
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, wmma_side, wmma_side, wmma_side, float>;

/// A warp's part of a block's tile, Tile::warp_m x Tile::warp_n, from tiles in shared memory with padded
/// lines (gemm/blocks/chunk_copy.cuh).
template <class Element, class Tile, Major a_major, Major b_major>
class WmmaTile {
 public:
  using CopyA = CopyOfA<Element, Tile, a_major, PaddedChunks>;
  using CopyB = CopyOfB<Element, Tile, b_major, PaddedChunks>;
  using Rows = StagedRows<Tile::warp_n>;

  __device__ WmmaTile() : place_(warp_place<Tile>()) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < columns; ++j) nvcuda::wmma::fill_fragment(sums_[i][j], 0.0f);
    }
  }

  /// Adds the products of a whole tile.
  __device__ void multiply(const std::byte* tile_a, const std::byte* tile_b) {
#pragma unroll
    for (int k = 0; k < Tile::k; k += wmma_side) {
      WmmaA<Element, a_major> a[rows];
#pragma unroll
      for (int i = 0; i < rows; ++i)
        load<a_major, CopyA>(a[i], tile_a, place_.m + i * wmma_side, k);
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        WmmaB<Element, b_major> b;
        load<b_major, CopyB>(b, tile_b, place_.n + j * wmma_side, k);
#pragma unroll
        for (int i = 0; i < rows; ++i)
          nvcuda::wmma::mma_sync(sums_[i][j], a[i], b, sums_[i][j]);
      }
    }
  }

  /// Stores the warp's part of the tile at (tile_row, tile_column) of C by way of `staged`.
  __device__ void store(float* staged, const Product<Element, Element, float>& p, int tile_row,
                        int tile_column, bool vectors) const {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < columns; ++j)
        nvcuda::wmma::store_matrix_sync(staged + j * wmma_side, sums_[i][j], Rows::pitch,
                                        nvcuda::wmma::mem_row_major);
      Rows::store(staged, p, tile_row + place_.m + i * wmma_side, tile_column + place_.n, vectors);
    }
  }

 private:
  static constexpr int rows = Tile::warp_m / wmma_side, columns = Tile::warp_n / wmma_side;

  template <Major major, class Copy, class Fragment>
  static __device__ void load(Fragment& fragment, const std::byte* tile, int outer, int k) {
    const int line = major == Major::k ? outer : k, column = major == Major::k ? k : outer;
    const auto* const first = reinterpret_cast<const Element*>(tile + Copy::Layout::bytes(line));
    nvcuda::wmma::load_matrix_sync(fragment, first + column,
                                   Copy::Layout::bytes(1) / static_cast<int>(sizeof(Element)));
  }

  WarpPlace place_;
  WmmaSums sums_[rows][columns];
};

}  // namespace fathom::gemm
