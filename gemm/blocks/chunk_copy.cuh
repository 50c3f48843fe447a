#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/chunk_layout.cuh"
#include "gemm/blocks/major.h"
#include "gemm/blocks/operands.cuh"

namespace fathom::gemm {

/// Copies tiles of Outer x Depth (of k) of a 16-bit operand to shared memory by chunks of 16 bytes, as
/// it lies: lines of the tile are contiguous along `major`, and the operand's start on 16 bytes. What
/// of a tile is outside of the operand becomes zero and is not read. By way of registers (`load`,
/// then `store`) or not (`copy`). Both are told whether the tile is `whole`, so that a loop over such tiles
/// has no instruction for others.
template <class Element, int Outer, int Depth, int Threads, Major major,
          template <int> class LayoutOf>
class ChunkCopy {
  static_assert(sizeof(Element) == 2);
  static constexpr int per_chunk = 8;
  static constexpr int lines = major == Major::k ? Outer : Depth;
  static constexpr int chunks = (major == Major::k ? Depth : Outer) / per_chunk;
  static constexpr int count = lines * chunks / Threads;
  static constexpr int step = Threads / chunks;  ///< lines between two chunks of a thread
  // Then all of them are in one column of chunks, and exchanged alike by a swizzle.
  static_assert(Threads % chunks == 0 && step % 8 == 0 && count * step == lines);

 public:
  using Layout = LayoutOf<chunks>;
  static constexpr int bytes = Layout::bytes(lines);

  /// Tiles from `first_outer` of `outer` on, k from 0 on. `stride`: elements between lines.
  __device__ ChunkCopy(const Element* data, std::int64_t stride, int first_outer, int outer)
      : data_(data),
        stride_(stride),
        outer_left_(outer - first_outer) {
    const int line = major == Major::k ? first_outer + own_line() : own_line();
    const int column = major == Major::k ? own_column() : first_outer + own_column();
    source_ = data + line * stride + column;
    target_ = Layout::offset(own_line(), own_column() / per_chunk);
  }

  /// Whether tiles have all of their lines along the other dimension than k.
  __device__ bool covers_outer() const { return outer_left_ >= Outer; }

  /// This thread's chunks of the tile of which `k_left` of k, more than 0, are left.
  template <bool whole>
  __device__ void load(int k_left) {
    if constexpr (whole) {
#pragma unroll
      for (int i = 0; i < count; ++i) chunk_[i] = *reinterpret_cast<const uint4*>(source(i));
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) chunk_[i] = part(source(i), elements(i, k_left));
    }
    advance();
  }

  __device__ void store(std::byte* tile) const {
#pragma unroll
    for (int i = 0; i < count; ++i)
      *reinterpret_cast<uint4*>(tile + target_ + Layout::bytes(i * step)) = chunk_[i];
  }

  /// The same without registers, to the tile at this address of shared memory.
  template <bool whole>
  __device__ void copy(std::uint32_t tile, int k_left) {
    if constexpr (whole) {
#pragma unroll
      for (int i = 0; i < count; ++i)
        async_copy<chunk_bytes>(tile + target_ + Layout::bytes(i * step), source(i));
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const int valid = elements(i, k_left);
        async_copy_part(tile + target_ + Layout::bytes(i * step), valid > 0 ? source(i) : data_,
                        valid * static_cast<int>(sizeof(Element)));
      }
    }
    advance();
  }

 private:
  /// Of this thread's first chunk. Not kept: registers are scarce where tiles are whole.
  static __device__ int own_line() { return static_cast<int>(threadIdx.x) / chunks; }
  static __device__ int own_column() { return static_cast<int>(threadIdx.x) % chunks * per_chunk; }

  __device__ const Element* source(int i) const { return source_ + i * step * stride_; }
  __device__ void advance() { source_ += major == Major::k ? std::int64_t{Depth} : Depth * stride_; }

  /// Elements of chunk i that are inside.
  __device__ int elements(int i, int k_left) const {
    const int lines_left = major == Major::k ? outer_left_ : k_left;
    const int columns_left = major == Major::k ? k_left : outer_left_;
    if (own_line() + i * step >= lines_left) return 0;
    return max(0, min(columns_left - own_column(), per_chunk));
  }

  static __device__ uint4 part(const Element* from, int valid) {
    if (valid == per_chunk) return *reinterpret_cast<const uint4*>(from);
    const auto* const bits = reinterpret_cast<const std::uint16_t*>(from);
    std::uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) {
      if (i < valid) words[i / 2] |= std::uint32_t{bits[i]} << i % 2 * 16;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
  }

  const Element* data_;
  std::int64_t stride_;
  int outer_left_;
  const Element* source_;
  int target_;
  uint4 chunk_[count];
};

/// The copiers of a product's operands, for tiles of Tile::m x Tile::k and Tile::n x Tile::k.
template <class Element, class Tile, Major major, template <int> class LayoutOf>
struct CopyOfA : ChunkCopy<Element, Tile::m, Tile::k, Tile::threads, major, LayoutOf> {
  using Copy = ChunkCopy<Element, Tile::m, Tile::k, Tile::threads, major, LayoutOf>;
  template <class P>
  __device__ CopyOfA(const P& p, int tile_row)
      : Copy(p.a.data, major == Major::k ? p.a.row_stride : p.a.column_stride, tile_row, p.m) {}
};
template <class Element, class Tile, Major major, template <int> class LayoutOf>
struct CopyOfB : ChunkCopy<Element, Tile::n, Tile::k, Tile::threads, major, LayoutOf> {
  using Copy = ChunkCopy<Element, Tile::n, Tile::k, Tile::threads, major, LayoutOf>;
  template <class P>
  __device__ CopyOfB(const P& p, int tile_column)
      : Copy(p.b.data, major == Major::k ? p.b.column_stride : p.b.row_stride, tile_column, p.n) {}
};

}  // namespace fathom::gemm
