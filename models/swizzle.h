#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/warp_access.h"

namespace fathom::models {

/// How warps go over a whole tile. Lane l of warp w takes chunk 32 w + l, a chunk being
/// `bytes_per_lane` bytes of one row, numbered
///  - row: along the row, then the next row (a fill from global memory, a row of an operand),
///  - column: down the column of chunks, then the next column (a transpose; with 16 bytes the rows
///    of an ldmatrix, whose 8x8 matrices are groups of 8 lanes),
///  - block: a warp is `block_rows` x 32 / block_rows chunks, by rows (the fragment of an mma: 8).
struct TileAccess {
  enum class Order { row, column, block };
  Access op = Access::load;
  Order order = Order::row;
  int bytes_per_lane = 4;
  int block_rows = 8;  ///< with `block`: 1, 2, 4, 8, 16 or 32
};

/// A row-major tile in shared memory and everything that warps do to it.
struct TileUse {
  int rows = 32;
  int row_elements = 32;
  int element_bytes = 4;  ///< 1, 2, 4, 8 or 16
  std::vector<TileAccess> accesses;
};

/// Where element (row, column) lies. With p = row_elements + padding_elements,
///   i = row * p + column,   slot = i XOR (((i >> (base + shift)) mod 2^bits) << base).
/// In words: of the element's number the `bits` bits from `base` on are XORed with as many bits
/// that lie `shift` higher; the bits below `base` stay, so that 2^base elements stay together. It
/// is what CUTLASS's CuTe documentation calls Swizzle<bits, base, shift>, there too of the linear
/// number. bits 0: no swizzle. Since shift >= bits, doing it twice undoes it.
struct TileLayout {
  int padding_elements = 0;
  int bits = 0, base = 0, shift = 0;

  std::uint64_t slot(const TileUse& tile, int row, int column) const;
  /// "plain", "1 element of padding" or "XOR swizzle <5, 0, 5>".
  std::string description() const;
};

/// What a layout costs, by `shared_cost` of every warp access to the tile.
struct LayoutCost {
  TileLayout layout;
  int wavefronts = 0;
  int conflicts = 0;
  std::vector<int> conflicts_by_access;  ///< in the order of TileUse::accesses
  int shared_bytes = 0;                  ///< from the first to behind the last byte used
  int wasted_bytes = 0;                  ///< of these, beyond the elements themselves
};

/// Throws std::invalid_argument for a tile without elements, without an access or larger than
/// shared memory, an element or access width that does not exist, an access narrower than an
/// element, or one whose chunks do not divide the row (or, with `block`, whose blocks do not divide
/// the tile); and for a layout that leaves a chunk misaligned.
LayoutCost layout_cost(const TileUse& tile, const TileLayout& layout);

/// The plain layout, all paddings up to 128 bytes a row and all XOR swizzles that keep the widest
/// access together and reach the banks, best first: by conflicts, then wasted bytes, then the
/// simplest (plain before padding before XOR; fewer bits; the smaller shift). At most `most`.
/// Throws as `layout_cost` does for the tile.
std::vector<LayoutCost> search_layouts(const TileUse& tile, std::size_t most = 5);

/// The index of element (row, column) as an expression of C++ to paste into a kernel, such as
/// "row * 33 + column"; `row` and `column` are unsigned or non-negative.
std::string index_formula(const TileUse& tile, const TileLayout& layout);

}  // namespace fathom::models
