#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fathom::models {

inline constexpr int warp_size = 32;
inline constexpr std::uint32_t all_lanes = 0xffff'ffffu;

enum class Access { load, store };

/// One memory instruction of one warp: lane i touches `bytes_per_lane` bytes from `address[i]` on,
/// if bit i of `active_mask` is set. Addresses are byte addresses in shared or global memory; those
/// of inactive lanes are ignored. A 32-byte access is two instructions of 16 bytes.
struct WarpAccess {
  Access op = Access::load;
  int bytes_per_lane = 4;  ///< 1, 2, 4, 8 or 16
  std::uint32_t active_mask = all_lanes;
  std::array<std::uint64_t, warp_size> address{};

  bool active(int lane) const { return (active_mask >> lane & 1u) != 0; }
};

/// What is wrong with one lane's address: "lane 5: address 44 is not a multiple of ...".
class LaneError : public std::invalid_argument {
 public:
  LaneError(int lane, const std::string& reason);
  int lane() const { return lane_; }
  const std::string& reason() const { return reason_; }  ///< the same without "lane 5: "

 private:
  int lane_;
  std::string reason_;
};

/// Throws std::invalid_argument where the width is not 1, 2, 4, 8 or 16 bytes, and LaneError where
/// an active lane's address is not a multiple of it (the hardware faults on such an access).
void validate(const WarpAccess& access);

/// A row-major tile in memory and how its columns are placed. Element (row, column) of
/// `element_bytes` bytes lies in slot `row * (row_elements + padding_elements) + column'`, where
/// column' is `column`, or with `xor_swizzle` `column ^ (row mod row_elements)`, which needs a
/// power of two for `row_elements`.
struct Tile {
  int element_bytes = 4;
  int row_elements = 32;
  int padding_elements = 0;
  bool xor_swizzle = false;
  std::uint64_t base = 0;

  /// Byte address of an element; std::invalid_argument for a column outside the row, a negative
  /// row, or a swizzle of a row whose length is no power of two.
  std::uint64_t address(int row, int column) const;
};

// Builders of common patterns, all lanes active. They do not validate: the models do.

/// Lane i at `base + i * stride_bytes`; a stride of the width is contiguous.
WarpAccess strided(Access op, int bytes_per_lane, std::uint64_t stride_bytes,
                   std::uint64_t base = 0);

/// Every lane at `address`.
WarpAccess broadcast(Access op, int bytes_per_lane, std::uint64_t address = 0);

/// Lane i at element (first_row + i, column): what a transpose does to one side of its tile.
WarpAccess tile_column(Access op, const Tile& tile, int column, int first_row = 0);

/// Lane i at element (row, first_column + i).
WarpAccess tile_row(Access op, const Tile& tile, int row, int first_column = 0);

/// Each group of `lanes_per_group` consecutive lanes (a divisor of 32) reads contiguously; group g
/// starts at `base + g * group_stride_bytes`. Half-warps are 16 lanes, quarter-warps 8.
WarpAccess grouped(Access op, int bytes_per_lane, int lanes_per_group,
                   std::uint64_t group_stride_bytes, std::uint64_t base = 0);

/// Lanes that differ only in `ignored_bits` of their number share an address; the rest are
/// contiguous. With 1 lane i and i^1 agree, with 2 lane i and i^2, with 31 all of them.
WarpAccess paired(Access op, int bytes_per_lane, unsigned ignored_bits, std::uint64_t base = 0);

/// Lane i takes the address that lane `source[i]` had, and is active where that one was.
WarpAccess permuted(const WarpAccess& access, const std::array<int, warp_size>& source);

/// The same addresses with only the lanes of `mask` left active.
WarpAccess masked(WarpAccess access, std::uint32_t mask);

/// "0-7,16,18-20" of a mask; "none".
std::string lane_list(std::uint32_t lanes);

/// Bytes that the active lanes touch, each counted once. Addresses are multiples of the width.
int distinct_bytes(const WarpAccess& access);

}  // namespace fathom::models
