#include "models/global_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "models/formatted.h"

namespace fathom::models {
namespace {

std::uint64_t stride_of(const StreamPattern& p) {
  return p.stride_bytes != 0 ? p.stride_bytes
                             : static_cast<std::uint64_t>(p.bytes_per_instruction) *
                                   static_cast<std::uint64_t>(p.instructions_per_access);
}

/// A block whose `threads` accesses start at address `base`.
StreamCost block_cost(const StreamPattern& p, std::uint64_t base, int threads) {
  StreamCost total;
  const std::uint64_t stride = stride_of(p);
  for (int first = 0; first < threads; first += warp_size) {
    const int lanes = std::min(warp_size, threads - first);
    for (int j = 0; j < p.instructions_per_access; ++j) {
      const std::uint64_t start = base + static_cast<std::uint64_t>(first) * stride +
                                  static_cast<std::uint64_t>(j * p.bytes_per_instruction);
      WarpAccess access = strided(Access::load, p.bytes_per_instruction, stride, start);
      access.active_mask = all_lanes >> (warp_size - lanes);
      const GlobalCost cost = global_cost(access);
      total.sectors += static_cast<std::uint64_t>(cost.sectors);
      total.requests += static_cast<std::uint64_t>(cost.requests);
      total.bytes += static_cast<std::uint64_t>(lanes * p.bytes_per_instruction);
    }
  }
  return total;
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
  GlobalExplanation why{.cost = global_cost(access), .lines = {}};
  std::map<std::uint64_t, GlobalLine> lines;
  for (int lane = 0; lane < warp_size; ++lane) {
    if (!access.active(lane)) continue;
    const std::uint64_t address = access.address[lane];
    GlobalLine& line = lines[address / line_bytes];
    line.address = address / line_bytes * line_bytes;
    line.lanes[address % line_bytes / sector_bytes] |= 1u << lane;
  }
  for (const auto& [number, line] : lines) why.lines.push_back(line);
  return why;
}

StreamCost& StreamCost::operator+=(const StreamCost& other) {
  sectors += other.sectors;
  requests += other.requests;
  bytes += other.bytes;
  return *this;
}

StreamCost stream_cost(const StreamPattern& p) {
  if (p.threads_per_block < 1 || p.threads_per_block > 1024)
    refuse("a block has 1 to 1024 threads, not %d", p.threads_per_block);
  if (p.instructions_per_access < 1)
    refuse("an access is at least one instruction, not %d", p.instructions_per_access);
  const auto threads = static_cast<std::uint64_t>(p.threads_per_block);
  const std::uint64_t block_bytes = threads * stride_of(p);
  const std::uint64_t blocks = p.accesses / threads;
  const auto tail = static_cast<int>(p.accesses % threads);

  // What a block costs depends on where its start lies in a sector, and that repeats at the latest
  // after 32 blocks.
  StreamCost total;
  const std::uint64_t period = block_bytes % sector_bytes == 0 ? 1 : sector_bytes;
  for (std::uint64_t b = 0; b < std::min(blocks, period); ++b) {
    const std::uint64_t repeats = (blocks - b + period - 1) / period;
    total += repeats * block_cost(p, p.base_offset + b * block_bytes, p.threads_per_block);
  }
  if (tail != 0) total += block_cost(p, p.base_offset + blocks * block_bytes, tail);
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

}  // namespace fathom::models
