#include <algorithm>
#include <bit>

#include "models/formatted.h"
#include "models/global_memory.h"

namespace fathom::models {
namespace {

/// Where one direction of a transpose finds element (row, column) of a tile: `base` plus so many
/// bytes a row and a column.
struct TilePlace {
  std::uint64_t base, row_bytes, column_bytes;
};

/// All warps of a block over one tile of which `rows` x `columns` elements exist; lane l of warp w
/// has element 32 w + l of the whole tile, by rows.
StreamCost tile_cost(const TransposePattern& p, const TilePlace& place, std::uint64_t rows,
                     std::uint64_t columns) {
  StreamCost total;
  const auto tile = static_cast<std::uint64_t>(p.tile);
  for (std::uint64_t first = 0; first < tile * tile; first += warp_size) {
    WarpAccess access{.bytes_per_lane = p.element_bytes, .active_mask = 0};
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t row = (first + static_cast<std::uint64_t>(lane)) / tile;
      const std::uint64_t column = (first + static_cast<std::uint64_t>(lane)) % tile;
      if (row >= rows || column >= columns) continue;
      access.active_mask |= 1u << lane;
      access.address[lane] = place.base + row * place.row_bytes + column * place.column_bytes;
    }
    const GlobalCost cost = global_cost(access);
    total.sectors += static_cast<std::uint64_t>(cost.sectors);
    total.requests += static_cast<std::uint64_t>(cost.requests);
    total.bytes += static_cast<std::uint64_t>(std::popcount(access.active_mask)) *
                   static_cast<std::uint64_t>(p.element_bytes);
  }
  return total;
}

/// One dimension cut into tiles: `count` of them cost as the one with number `index`, and each is
/// `length` long.
struct TileClass {
  std::uint64_t index, count, length;
};

/// A tile's cost depends on where its start lies in a sector, which repeats at the latest after 32
/// tiles; only the last can be shorter.
std::vector<TileClass> classes(std::uint64_t length, std::uint64_t tile) {
  std::vector<TileClass> result;
  const std::uint64_t whole = length / tile;
  for (std::uint64_t i = 0; i < std::min(whole, sector_bytes); ++i)
    result.push_back({i, (whole - i + sector_bytes - 1) / sector_bytes, tile});
  if (length % tile != 0) result.push_back({whole, 1, length % tile});
  return result;
}

}  // namespace

int member_instruction_bytes(const StructPattern& p) {
  const std::uint64_t all =
      p.struct_bytes | p.member_offset | p.member_bytes | p.base_offset | std::uint64_t{16};
  return 1 << std::countr_zero(all);
}

StreamCost struct_cost(const StructPattern& p) {
  if (p.member_bytes == 0 || p.member_bytes > p.struct_bytes ||
      p.member_offset > p.struct_bytes - p.member_bytes)
    refuse("a member of %lu bytes at offset %lu is not inside a structure of %lu bytes",
           p.member_bytes, p.member_offset, p.struct_bytes);
  const int width =
      p.bytes_per_instruction != 0 ? p.bytes_per_instruction : member_instruction_bytes(p);
  constexpr std::uint64_t most_instructions = 1 << 20;
  if (width < 1 || p.member_bytes % static_cast<std::uint64_t>(width) != 0 ||
      p.member_bytes / static_cast<std::uint64_t>(width) > most_instructions)
    refuse("a member of %lu bytes is not 1 to 2^20 whole instructions of %d bytes", p.member_bytes,
           width);
  return stream_cost({.accesses = p.elements,
                      .bytes_per_instruction = width,
                      .instructions_per_access =
                          static_cast<int>(p.member_bytes / static_cast<std::uint64_t>(width)),
                      .stride_bytes = p.struct_bytes,
                      .base_offset = p.base_offset + p.member_offset,
                      .threads_per_block = p.threads_per_block});
}

TransposeCost transpose_cost(const TransposePattern& p) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 28;
  if (p.tile < 1 || p.tile > 128) refuse("a tile is 1 to 128 elements wide, not %d", p.tile);
  if (p.rows > most_elements || p.columns > most_elements)
    refuse("a matrix has at most 2^28 rows and columns");
  validate(strided(Access::load, p.element_bytes, 0, p.load_base));
  validate(strided(Access::store, p.element_bytes, 0, p.store_base));

  const auto tile = static_cast<std::uint64_t>(p.tile);
  const auto element = static_cast<std::uint64_t>(p.element_bytes);
  TransposeCost total;
  for (const TileClass& y : classes(p.rows, tile)) {
    for (const TileClass& x : classes(p.columns, tile)) {
      const std::uint64_t row = y.index * tile, column = x.index * tile;
      const std::uint64_t source = p.load_base + (row * p.columns + column) * element;
      const std::uint64_t result = p.store_base + (column * p.rows + row) * element;
      const std::uint64_t count = y.count * x.count;
      total.loads +=
          count * tile_cost(p, {source, p.columns * element, element}, y.length, x.length);
      total.stores +=
          count * (p.through_shared
                       ? tile_cost(p, {result, p.rows * element, element}, x.length, y.length)
                       : tile_cost(p, {result, element, p.rows * element}, y.length, x.length));
    }
  }
  return total;
}

}  // namespace fathom::models
