#include "models/warp_access.h"

#include <bit>
#include <set>
#include <stdexcept>

#include "models/formatted.h"

namespace fathom::models {

LaneError::LaneError(int lane, const std::string& reason)
    : std::invalid_argument(formatted("lane %d: %s", lane, reason.c_str())),
      lane_(lane),
      reason_(reason) {}

void validate(const WarpAccess& access) {
  const int bytes = access.bytes_per_lane;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)
    refuse("a warp access has 1, 2, 4, 8 or 16 bytes per lane, not %d; split wider ones", bytes);
  const auto below_width = static_cast<std::uint64_t>(bytes) - 1;  // the width is a power of two
  for (int lane = 0; lane < warp_size; ++lane) {
    if (access.active(lane) && (access.address[lane] & below_width) != 0) {
      throw LaneError(lane,
                      formatted("address %lu is not a multiple of the access width of %d bytes",
                                access.address[lane], bytes));
    }
  }
}

std::uint64_t Tile::address(int row, int column) const {
  if (row < 0 || column < 0 || column >= row_elements)
    refuse("element (%d, %d) is outside a tile of %d columns", row, column, row_elements);
  int placed = column;
  if (xor_swizzle) {
    if (!std::has_single_bit(static_cast<unsigned>(row_elements)))
      refuse(
          "an XOR swizzle needs a power of two for the row length, not %d; pad the row to the next "
          "one",
          row_elements);
    placed = column ^ (row % row_elements);
  }
  const auto pitch = static_cast<std::uint64_t>(row_elements + padding_elements);
  return base + (static_cast<std::uint64_t>(row) * pitch + static_cast<std::uint64_t>(placed)) *
                    static_cast<std::uint64_t>(element_bytes);
}

namespace {

template <typename AddressOfLane>
WarpAccess build(Access op, int bytes_per_lane, AddressOfLane address_of_lane) {
  WarpAccess access{.op = op, .bytes_per_lane = bytes_per_lane};
  for (int lane = 0; lane < warp_size; ++lane) access.address[lane] = address_of_lane(lane);
  return access;
}

}  // namespace

WarpAccess strided(Access op, int bytes_per_lane, std::uint64_t stride_bytes, std::uint64_t base) {
  return build(op, bytes_per_lane,
               [&](int lane) { return base + static_cast<std::uint64_t>(lane) * stride_bytes; });
}

WarpAccess broadcast(Access op, int bytes_per_lane, std::uint64_t address) {
  return strided(op, bytes_per_lane, 0, address);
}

WarpAccess tile_column(Access op, const Tile& tile, int column, int first_row) {
  return build(op, tile.element_bytes,
               [&](int lane) { return tile.address(first_row + lane, column); });
}

WarpAccess tile_row(Access op, const Tile& tile, int row, int first_column) {
  return build(op, tile.element_bytes,
               [&](int lane) { return tile.address(row, first_column + lane); });
}

WarpAccess grouped(Access op, int bytes_per_lane, int lanes_per_group,
                   std::uint64_t group_stride_bytes, std::uint64_t base) {
  if (lanes_per_group < 1 || warp_size % lanes_per_group != 0)
    refuse("lanes per group must divide 32, %d does not", lanes_per_group);
  return build(op, bytes_per_lane, [&](int lane) {
    return base + static_cast<std::uint64_t>(lane / lanes_per_group) * group_stride_bytes +
           static_cast<std::uint64_t>(lane % lanes_per_group * bytes_per_lane);
  });
}

WarpAccess paired(Access op, int bytes_per_lane, unsigned ignored_bits, std::uint64_t base) {
  return build(op, bytes_per_lane, [&](int lane) {
    // Gather the bits that count, so that distinct addresses stay contiguous.
    unsigned slot = 0;
    for (int bit = 0, out = 0; bit < 5; ++bit) {
      if (ignored_bits >> bit & 1u) continue;
      slot |= (static_cast<unsigned>(lane) >> bit & 1u) << out++;
    }
    return base + slot * static_cast<std::uint64_t>(bytes_per_lane);
  });
}

WarpAccess permuted(const WarpAccess& access, const std::array<int, warp_size>& source) {
  WarpAccess result{.op = access.op, .bytes_per_lane = access.bytes_per_lane, .active_mask = 0};
  for (int lane = 0; lane < warp_size; ++lane) {
    const int from = source[lane];
    if (from < 0 || from >= warp_size)
      refuse("lane %d cannot take the address of lane %d: a warp has lanes 0 to 31", lane, from);
    result.address[lane] = access.address[from];
    if (access.active(from)) result.active_mask |= 1u << lane;
  }
  return result;
}

WarpAccess masked(WarpAccess access, std::uint32_t mask) {
  access.active_mask &= mask;
  return access;
}

std::string lane_list(std::uint32_t lanes) {
  std::string text;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    const int last = lane + std::countr_one(lanes >> lane) - 1;
    if (!text.empty()) text += ',';
    text += last == lane ? std::to_string(lane) : formatted("%d-%d", lane, last);
    lane = last;
  }
  return text.empty() ? "none" : text;
}

int distinct_bytes(const WarpAccess& access) {
  std::set<std::uint64_t> elements;
  for (int lane = 0; lane < warp_size; ++lane)
    if (access.active(lane)) elements.insert(access.address[lane]);
  return static_cast<int>(elements.size()) * access.bytes_per_lane;
}

}  // namespace fathom::models
