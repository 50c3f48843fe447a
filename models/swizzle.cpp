#include "models/swizzle.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "models/formatted.h"
#include "models/shared_memory.h"

namespace fathom::models {
namespace {

constexpr int bank_row_bytes = shared_banks * shared_bank_bytes;

int log2_of(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }

bool is_width(int bytes) {
  return bytes >= 1 && bytes <= 16 && std::has_single_bit(static_cast<unsigned>(bytes));
}

void validate(const TileUse& tile) {
  if (tile.rows < 1 || tile.row_elements < 1 || tile.rows > 1 << 18 || tile.row_elements > 1 << 18)
    refuse("a tile has at least one row and column, not %d x %d", tile.rows, tile.row_elements);
  if (!is_width(tile.element_bytes))
    refuse("an element has 1, 2, 4, 8 or 16 bytes, not %d", tile.element_bytes);
  const auto bytes = static_cast<std::uint64_t>(tile.rows) *
                     static_cast<std::uint64_t>(tile.row_elements * tile.element_bytes);
  if (bytes > shared_address_limit)
    refuse("the tile's %lu bytes are more than the %lu of the largest shared memory", bytes,
           shared_address_limit);
  if (tile.accesses.empty())
    refuse("a layout is only good or bad for an access: name at least one");
  const int row_bytes = tile.row_elements * tile.element_bytes;
  for (const TileAccess& access : tile.accesses) {
    const int bytes_per_lane = access.bytes_per_lane;
    if (!is_width(bytes_per_lane) || bytes_per_lane < tile.element_bytes)
      refuse("an access has 1, 2, 4, 8 or 16 bytes per lane and at least an element's %d, not %d",
             tile.element_bytes, bytes_per_lane);
    if (row_bytes % bytes_per_lane != 0)
      refuse("a row of %d bytes is not a whole number of %d-byte accesses", row_bytes,
             bytes_per_lane);
    if (access.order != TileAccess::Order::block) continue;
    const int rows = access.block_rows;
    if (rows < 1 || warp_size % rows != 0 || tile.rows % rows != 0 ||
        row_bytes / bytes_per_lane % (warp_size / rows) != 0)
      refuse("a warp of %d rows of lanes does not divide a tile of %d rows of %d chunks", rows,
             tile.rows, row_bytes / bytes_per_lane);
  }
}

/// Row and column (in chunks) of chunk `number`.
std::pair<int, int> chunk_place(const TileUse& tile, const TileAccess& access, int chunks_per_row,
                                int number) {
  switch (access.order) {
    case TileAccess::Order::row:
      return {number / chunks_per_row, number % chunks_per_row};
    case TileAccess::Order::column:
      return {number % tile.rows, number / tile.rows};
    case TileAccess::Order::block:
      break;
  }
  const int columns = warp_size / access.block_rows;
  const int block = number / warp_size, lane = number % warp_size;
  const int blocks_per_row = chunks_per_row / columns;
  return {block / blocks_per_row * access.block_rows + lane / columns,
          block % blocks_per_row * columns + lane % columns};
}

int shared_bytes_of(const TileUse& tile, const TileLayout& layout) {
  // The last row needs no padding behind it, but a swizzle can put its elements anywhere in their
  // block of 2^(base + bits).
  const int pitch = tile.row_elements + layout.padding_elements;
  int elements = (tile.rows - 1) * pitch + tile.row_elements;
  if (layout.bits != 0) {
    const int block = 1 << (layout.base + layout.bits);
    elements = (elements + block - 1) / block * block;
  }
  return elements * tile.element_bytes;
}

LayoutCost cost_of_valid(const TileUse& tile, const TileLayout& layout) {
  LayoutCost cost{.layout = layout, .conflicts_by_access = {}};
  for (const TileAccess& access : tile.accesses) {
    const int chunk_elements = access.bytes_per_lane / tile.element_bytes;
    const int chunks_per_row = tile.row_elements / chunk_elements;
    const int chunks = chunks_per_row * tile.rows;
    int conflicts = 0;
    for (int first = 0; first < chunks; first += warp_size) {
      WarpAccess warp{.op = access.op, .bytes_per_lane = access.bytes_per_lane, .active_mask = 0};
      for (int lane = 0; lane < std::min(warp_size, chunks - first); ++lane) {
        const auto [row, chunk] = chunk_place(tile, access, chunks_per_row, first + lane);
        warp.active_mask |= 1u << lane;
        warp.address[lane] = layout.slot(tile, row, chunk * chunk_elements) *
                             static_cast<std::uint64_t>(tile.element_bytes);
      }
      const SharedCost one = shared_cost(warp);
      cost.wavefronts += one.wavefronts;
      conflicts += one.conflicts;
    }
    cost.conflicts += conflicts;
    cost.conflicts_by_access.push_back(conflicts);
  }
  cost.shared_bytes = shared_bytes_of(tile, layout);
  cost.wasted_bytes = cost.shared_bytes - tile.rows * tile.row_elements * tile.element_bytes;
  return cost;
}

int widest_access(const TileUse& tile) {
  int widest = tile.element_bytes;
  for (const TileAccess& access : tile.accesses) widest = std::max(widest, access.bytes_per_lane);
  return widest;
}

std::vector<TileLayout> candidates(const TileUse& tile) {
  const int chunk = widest_access(tile) / tile.element_bytes;
  const int bank_row = bank_row_bytes / tile.element_bytes;
  std::vector<TileLayout> layouts{TileLayout{}};
  // What a padding does to the banks repeats every 128 bytes.
  for (int padding = chunk; padding < bank_row; padding += chunk)
    layouts.push_back({.padding_elements = padding});
  const auto elements = static_cast<unsigned>(tile.rows * tile.row_elements);
  const int number_bits = std::bit_width(elements - 1);
  for (int base = log2_of(chunk); base < log2_of(bank_row); ++base)
    for (int bits = 1; base + bits <= log2_of(bank_row); ++bits)
      for (int shift = bits; base + shift < number_bits; ++shift)
        layouts.push_back({.bits = bits, .base = base, .shift = shift});
  return layouts;
}

}  // namespace

std::uint64_t TileLayout::slot(const TileUse& tile, int row, int column) const {
  const auto i = static_cast<std::uint64_t>(row) *
                     static_cast<std::uint64_t>(tile.row_elements + padding_elements) +
                 static_cast<std::uint64_t>(column);
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  return i ^ ((i >> (base + shift) & mask) << base);
}

std::string TileLayout::description() const {
  if (bits != 0) return formatted("XOR swizzle <%d, %d, %d>", bits, base, shift);
  if (padding_elements == 0) return "plain";
  return formatted("%d element%s of padding", padding_elements, padding_elements == 1 ? "" : "s");
}

LayoutCost layout_cost(const TileUse& tile, const TileLayout& layout) {
  validate(tile);
  if (layout.padding_elements < 0 || layout.bits < 0 || layout.base < 0 ||
      layout.shift < layout.bits || layout.base + layout.shift + layout.bits > 32)
    refuse(
        "padding %d with swizzle <%d, %d, %d> is no layout: none is negative, and the shift is at "
        "least the number of bits",
        layout.padding_elements, layout.bits, layout.base, layout.shift);
  const int chunk = widest_access(tile) / tile.element_bytes;
  if (layout.bits != 0 && (1 << layout.base) < chunk)
    refuse("a swizzle from bit %d on tears the %d elements of an access apart", layout.base, chunk);
  return cost_of_valid(tile, layout);
}

std::vector<LayoutCost> search_layouts(const TileUse& tile, std::size_t most) {
  validate(tile);
  std::vector<LayoutCost> costs;
  for (const TileLayout& layout : candidates(tile)) {
    if (static_cast<std::uint64_t>(shared_bytes_of(tile, layout)) > shared_address_limit) continue;
    costs.push_back(cost_of_valid(tile, layout));
  }
  const auto key = [](const LayoutCost& cost) {
    return std::tuple(cost.conflicts, cost.wasted_bytes, cost.layout.bits,
                      cost.layout.padding_elements, cost.layout.shift, cost.layout.base);
  };
  std::ranges::stable_sort(costs, {}, key);
  costs.resize(std::min(costs.size(), most));
  return costs;
}

std::string index_formula(const TileUse& tile, const TileLayout& layout) {
  const int pitch = tile.row_elements + layout.padding_elements;
  const std::string number = formatted("row * %d + column", pitch);
  if (layout.bits == 0) return number;
  const unsigned mask = (1u << layout.bits) - 1;
  const auto shifted = [](const std::string& text, const char* arrow, int by) {
    return by == 0 ? text : formatted("(%s %s %d)", text.c_str(), arrow, by);
  };
  const auto flipped = [&](const std::string& source, int right) {
    return shifted(formatted("(%s & %u)", shifted(source, ">>", right).c_str(), mask), "<<",
                   layout.base);
  };
  // Where rows are a power of two and the source bits are the row's, the column alone changes.
  const int source_bit = layout.base + layout.shift;
  const int row_bit = log2_of(pitch);
  if (std::has_single_bit(static_cast<unsigned>(pitch)) && layout.base + layout.bits <= row_bit &&
      source_bit >= row_bit)
    return formatted("row * %d + (column ^ %s)", pitch,
                     flipped("row", source_bit - row_bit).c_str());
  return formatted("(%s) ^ %s", number.c_str(), flipped("(" + number + ")", source_bit).c_str());
}

}  // namespace fathom::models
