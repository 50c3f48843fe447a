#include "models/global_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "models/formatted.h"

namespace fathom::models {
namespace {

/// What one instruction adds to a kernel's cost.
StreamCost cost_of(const WarpAccess& access) {
  const GlobalCost cost = global_cost(access);
  const int bytes = std::popcount(access.active_mask) * access.bytes_per_lane;
  return {.sectors = static_cast<std::uint64_t>(cost.sectors),
          .requests = static_cast<std::uint64_t>(cost.requests),
          .bytes = static_cast<std::uint64_t>(bytes)};
}

/// Where the threads of a block find their elements: (row, column) at `base` plus so many bytes a
/// row and a column.
struct Place {
  std::uint64_t base, row_bytes, column_bytes;
};

/// All warps of a block, whose thread t has element (t / width, t % width), of which
/// `rows` x `columns` exist.
StreamCost block_cost(int bytes, const Place& place, std::uint64_t width, std::uint64_t rows,
                      std::uint64_t columns) {
  StreamCost total;
  for (std::uint64_t thread = 0; thread < rows * width;) {
    WarpAccess access{.bytes_per_lane = bytes, .active_mask = 0};
    for (int lane = 0; lane < warp_size; ++lane, ++thread) {
      const std::uint64_t row = thread / width, column = thread % width;
      if (row >= rows || column >= columns) continue;
      access.active_mask |= 1u << lane;
      access.address[lane] = place.base + row * place.row_bytes + column * place.column_bytes;
    }
    total += cost_of(access);
  }
  return total;
}

/// Accesses cut into blocks, or a dimension into tiles: `count` of them cost as the one with number
/// `index`, and each is `length` long.
struct Piece {
  std::uint64_t index, count, length;
};

/// What a piece costs depends on where its start lies in a sector, which repeats at the latest
/// after 32 pieces; only the last can be shorter.
std::vector<Piece> pieces(std::uint64_t all, std::uint64_t length) {
  std::vector<Piece> result;
  const std::uint64_t whole = all / length;
  for (std::uint64_t i = 0; i < std::min(whole, sector_bytes); ++i)
    result.push_back({i, (whole - i + sector_bytes - 1) / sector_bytes, length});
  if (all % length != 0) result.push_back({whole, 1, all % length});
  return result;
}

}  // namespace

GlobalCost global_cost(const WarpAccess& access) {
  validate(access);
  std::array<std::uint64_t, warp_size> touched;
  auto end = touched.begin();
  // An access is at most half a sector and a multiple of itself: it lies in one.
  for (std::uint32_t lanes = access.active_mask; lanes != 0; lanes &= lanes - 1)
    *end++ = access.address[std::countr_zero(lanes)] / sector_bytes;
  GlobalCost cost{.requests = end != touched.begin() ? 1 : 0};
  std::sort(touched.begin(), end);
  end = std::unique(touched.begin(), end);
  cost.sectors = static_cast<int>(end - touched.begin());
  for (auto sector = touched.begin(); sector != end; ++sector) *sector /= line_bytes / sector_bytes;
  cost.lines = static_cast<int>(std::unique(touched.begin(), end) - touched.begin());
  return cost;
}

int sectors(const WarpAccess& access) { return global_cost(access).sectors; }

GlobalExplanation explain_global(const WarpAccess& access) {
  GlobalExplanation why{.cost = global_cost(access), .lines = {}, .sentence = {}};
  std::map<std::uint64_t, GlobalLine> lines;
  for (int lane = 0; lane < warp_size; ++lane) {
    if (!access.active(lane)) continue;
    const std::uint64_t address = access.address[lane];
    GlobalLine& line = lines[address / line_bytes];
    line.address = address / line_bytes * line_bytes;
    line.lanes[address % line_bytes / sector_bytes] |= 1u << lane;
  }
  for (const auto& [number, line] : lines) why.lines.push_back(line);
  const auto moved = static_cast<std::uint64_t>(why.cost.sectors) * sector_bytes,
             wanted = static_cast<std::uint64_t>(distinct_bytes(access));
  why.sentence = formatted(
      "%d sector%s in %d line%s, where %lu would hold the distinct bytes: %lu of the %lu bytes "
      "that move are wanted.",
      why.cost.sectors, why.cost.sectors == 1 ? "" : "s", why.cost.lines,
      why.cost.lines == 1 ? "" : "s", (wanted + sector_bytes - 1) / sector_bytes, wanted, moved);
  return why;
}

std::string picture(const GlobalExplanation& why) {
  std::string text = "line at              | +0     | +32    | +64    | +96\n";
  for (const GlobalLine& line : why.lines) {
    text += formatted("%-20lu", line.address);
    for (const std::uint32_t lanes : line.lanes)
      text += formatted(" | %-6s", lanes == 0 ? "." : lane_list(lanes).c_str());
    text.erase(text.find_last_not_of(' ') + 1) += '\n';
  }
  return text + "(lanes by the 32-byte sector of the 128-byte line that they touch)\n";
}

StreamCost stream_cost(const StreamPattern& p) {
  if (p.threads_per_block < 1 || p.threads_per_block > 1024)
    refuse("a block has 1 to 1024 threads, not %d", p.threads_per_block);
  if (p.instructions_per_access < 1)
    refuse("an access is at least one instruction, not %d", p.instructions_per_access);
  const auto threads = static_cast<std::uint64_t>(p.threads_per_block),
             instructions = static_cast<std::uint64_t>(p.instructions_per_access),
             width = static_cast<std::uint64_t>(p.bytes_per_instruction),
             stride = p.stride_bytes != 0 ? p.stride_bytes : width * instructions;
  StreamCost total;
  for (const auto& [block, count, length] : pieces(p.accesses, threads))
    for (std::uint64_t j = 0; j < instructions; ++j) {
      const Place place{p.base_offset + block * threads * stride + j * width, 0, stride};
      total += count * block_cost(p.bytes_per_instruction, place, length, 1, length);
    }
  return total;
}

StreamCost contiguous_cost(std::uint64_t bytes, int bytes_per_access, int element_bytes,
                           std::uint64_t base_offset, int threads_per_block) {
  const bool width_fits = bytes_per_access >= 1 && bytes_per_access <= 32 && element_bytes >= 1 &&
                          bytes_per_access % element_bytes == 0;
  if (!width_fits)
    refuse("%d bytes a thread: must be 1 to 32 and a multiple of the element's %d bytes",
           bytes_per_access, element_bytes);
  const auto width = static_cast<std::uint64_t>(bytes_per_access);
  const int instruction_bytes = std::min(bytes_per_access, 16);
  const StreamPattern body{.accesses = bytes / width,
                           .bytes_per_instruction = instruction_bytes,
                           .instructions_per_access = bytes_per_access / instruction_bytes,
                           .base_offset = base_offset,
                           .threads_per_block = threads_per_block};
  // At most 31 elements: one warp of its own.
  const std::uint64_t done = body.accesses * width;
  const StreamPattern tail{.accesses = (bytes - done) / static_cast<std::uint64_t>(element_bytes),
                           .bytes_per_instruction = std::min(element_bytes, 16),
                           .instructions_per_access = element_bytes / std::min(element_bytes, 16),
                           .base_offset = base_offset + done};
  return stream_cost(body) + stream_cost(tail);
}

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
  for (const Piece& y : pieces(p.rows, tile)) {
    for (const Piece& x : pieces(p.columns, tile)) {
      const std::uint64_t row = y.index * tile, column = x.index * tile;
      const Place source{p.load_base + (row * p.columns + column) * element, p.columns * element,
                         element};
      const std::uint64_t result = p.store_base + (column * p.rows + row) * element;
      const std::uint64_t count = y.count * x.count;
      total.loads += count * block_cost(p.element_bytes, source, tile, y.length, x.length);
      total.stores +=
          count * (p.through_shared
                       ? block_cost(p.element_bytes, {result, p.rows * element, element}, tile,
                                    x.length, y.length)
                       : block_cost(p.element_bytes, {result, element, p.rows * element}, tile,
                                    y.length, x.length));
    }
  }
  return total;
}

}  // namespace fathom::models
