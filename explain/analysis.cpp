#include "explain/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "models/swizzle.h"
#include "models/warp_access.h"
#include "results/text.h"

namespace fathom::explain {
namespace {

using models::WarpAccess;
using Addresses = std::vector<std::uint64_t>;

WarpAccess access_of(const Pattern& pattern) {
  WarpAccess access;
  access.bytes_per_lane = static_cast<int>(pattern.bytes);
  access.active_mask = pattern.mask;
  std::copy_n(pattern.address, models::warp_size, access.address.begin());
  // Matrix instructions never merge the rows of two matrices; nor do stores.
  const bool load = pattern.op == Op::load || pattern.op == Op::async_read;
  access.op = load ? models::Access::load : models::Access::store;
  return access;
}

Addresses distinct_addresses(const WarpAccess& access) {
  std::set<std::uint64_t> all;
  for (int lane = 0; lane < models::warp_size; ++lane)
    if (access.active(lane)) all.insert(access.address[lane]);
  return {all.begin(), all.end()};
}

/// Addresses cut where they do not go on: `rows` pieces of `row` elements, `pitch` bytes apart.
struct Rows {
  std::size_t rows = 1, row = 1;
  std::uint64_t pitch = 0;
  bool equal = true;  ///< in length and distance; else the three say nothing
};

Rows rows_of(const Addresses& addresses, std::uint64_t bytes) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 1; i < addresses.size(); ++i)
    if (addresses[i] != addresses[i - 1] + bytes) starts.push_back(i);
  Rows rows{starts.size(), addresses.size() / starts.size(), 0};
  if (rows.rows == 1) return rows;
  rows.pitch = addresses[starts[1]] - addresses[starts[0]];
  for (std::size_t i = 1; i < starts.size(); ++i) {
    rows.equal = rows.equal && starts[i] == i * rows.row &&
                 addresses[starts[i]] - addresses[starts[i - 1]] == rows.pitch;
  }
  rows.equal = rows.equal && rows.rows * rows.row == addresses.size();
  return rows;
}

std::string elements(std::size_t count) {
  return count == 1 ? "lanes" : fmt::format("groups of {} lanes", count);
}

Fault global_fault(const Addresses& addresses, std::uint64_t bytes) {
  constexpr auto sector = models::sector_bytes;
  const Rows rows = rows_of(addresses, bytes);
  // Rows that are whole sectors long lose by where they begin alone.
  if (rows.rows == 1 || (rows.equal && rows.row * bytes >= sector))
    return {Rule::misalignment,
            rows.rows == 1 ? fmt::format("it begins {} bytes behind a 32-byte boundary",
                                         addresses.front() % sector)
                           : fmt::format("rows {} bytes apart", rows.pitch),
            "let each row of data begin on a multiple of 32 bytes: pad the rows, or shift the "
            "start"};
  if (rows.equal)
    return {Rule::stride, fmt::format("{} {} bytes apart", elements(rows.row), rows.pitch),
            "let neighbouring lanes take neighbouring elements: a structure of arrays, or a tile "
            "turned over in shared memory"};
  return {Rule::scatter, "lanes anywhere",
          "sort or group what lanes take, so that those of a warp fall into the same sectors"};
}

PatternCost cost_of_global(const WarpAccess& access) {
  const Addresses addresses = distinct_addresses(access);
  const auto bytes = static_cast<std::uint64_t>(access.bytes_per_lane);
  PatternCost result;
  result.cost = models::sectors(access);
  result.least = static_cast<int>((addresses.size() * bytes + models::sector_bytes - 1) /
                                  models::sector_bytes);
  if (result.cost <= result.least) return result;
  result.fault = global_fault(addresses, bytes);
  result.fault->saved = static_cast<unsigned>(result.cost - result.least);
  return result;
}

/// A tile in which a warp takes `rows` pieces of `row` elements, and the layouts that
/// `fathom predict swizzle` would name, best first.
struct TileSearch {
  models::TileUse tile;
  std::vector<models::LayoutCost> layouts;
};

const TileSearch& search(const Rows& rows, const WarpAccess& access) {
  using Key = std::tuple<std::size_t, std::size_t, std::uint64_t, int, models::Access>;
  static std::map<Key, TileSearch> known;
  const auto [found, is_new] =
      known.try_emplace(Key{rows.rows, rows.row, rows.pitch, access.bytes_per_lane, access.op});
  if (!is_new) return found->second;
  using Order = models::TileAccess::Order;
  const bool block = rows.row > 1 && rows.rows * rows.row == models::warp_size;
  const bool load = access.op == models::Access::load;
  TileSearch& result = found->second;
  result.tile = {.rows = models::warp_size,
                 .row_elements = static_cast<int>(rows.pitch) / access.bytes_per_lane,
                 .element_bytes = access.bytes_per_lane,
                 .accesses = {{.op = load ? models::Access::store : models::Access::load,
                               .order = Order::row,
                               .bytes_per_lane = access.bytes_per_lane},
                              {.op = access.op,
                               .order = block ? Order::block : Order::column,
                               .bytes_per_lane = access.bytes_per_lane,
                               .block_rows = block ? static_cast<int>(rows.rows) : 8}}};
  try {
    constexpr std::size_t enough = 100;  // all without conflicts: swizzles waste nothing, so lead
    result.layouts = models::search_layouts(result.tile, enough);
  } catch (const std::invalid_argument&) {  // too large a tile, or rows that no access divides
  }
  return result;
}

/// The same lanes where the layout puts their elements.
WarpAccess moved(const WarpAccess& access, const models::TileUse& tile,
                 const models::TileLayout& layout, std::uint64_t lowest) {
  const auto bytes = static_cast<std::uint64_t>(access.bytes_per_lane);
  const auto pitch = static_cast<std::uint64_t>(tile.row_elements) * bytes;
  // Where rows repeat with the banks, the column is known; else rows are counted from the lowest.
  const std::uint64_t first = 128 % pitch == 0 || pitch % 128 == 0 ? 0 : lowest;
  WarpAccess result = access;
  for (int lane = 0; lane < models::warp_size; ++lane) {
    if (!access.active(lane)) continue;
    const std::uint64_t offset = access.address[lane] - first;
    result.address[lane] = bytes * layout.slot(tile, static_cast<int>(offset / pitch),
                                               static_cast<int>(offset % pitch / bytes));
  }
  return result;
}

/// The best padding and the best XOR swizzle without a conflict for this very access; empty if
/// there is neither.
std::string layout_fix(const TileSearch& search, const WarpAccess& access, std::uint64_t lowest) {
  std::string padding, swizzle;
  for (const models::LayoutCost& candidate : search.layouts) {
    const models::TileLayout& layout = candidate.layout;
    std::string& fix = layout.bits != 0 ? swizzle : padding;
    const WarpAccess there = moved(access, search.tile, layout, lowest);
    if (fix.empty() && models::shared_cost(there).conflicts == 0)
      fix = fmt::format("`{}`", models::index_formula(search.tile, layout));
  }
  if (padding.empty() && swizzle.empty()) return "";
  if (!padding.empty()) padding += " (padded rows)";
  if (!swizzle.empty()) swizzle += " (XOR swizzle)";
  return fmt::format("index the tile by {}{}{}, in elements of {} bytes", padding,
                     padding.empty() || swizzle.empty() ? "" : " or ", swizzle,
                     access.bytes_per_lane);
}

PatternCost cost_of_shared(const WarpAccess& access) {
  const models::SharedCost cost = models::shared_cost(access);
  PatternCost result{cost.wavefronts, cost.wavefronts - cost.conflicts, {}};
  if (cost.conflicts == 0) return result;
  Fault& fault = result.fault.emplace();
  fault.rule = Rule::bank_conflict;
  fault.what = fmt::format("{} wavefronts instead of {}", result.cost, result.least);
  const Addresses addresses = distinct_addresses(access);
  const auto bytes = static_cast<std::uint64_t>(access.bytes_per_lane);
  const Rows rows = rows_of(addresses, bytes);
  if (rows.equal && rows.rows > 1 && rows.pitch % bytes == 0) {
    fault.what += fmt::format(", {} {} bytes apart", elements(rows.row), rows.pitch);
    fault.fix = layout_fix(search(rows, access), access, addresses.front());
  }
  if (!fault.fix.empty())
    fault.saved = static_cast<unsigned>(cost.conflicts);
  else
    fault.fix = "no padding or XOR swizzle is known for it: spread what lanes take over the banks";
  return result;
}

constexpr std::uint64_t warp = models::warp_size;

/// Misalignments with the same fix are one, however far off they are.
void add_fault(LineCost& line, const Fault& fault) {
  line.saved += fault.saved;
  const auto known = std::ranges::find_if(line.faults, [&](const Fault& f) {
    return f.rule == fault.rule && f.fix == fault.fix &&
           (f.what == fault.what || fault.rule == Rule::misalignment);
  });
  if (known == line.faults.end()) {
    line.faults.push_back(fault);
    return;
  }
  if (known->what != fault.what) known->what = "warps begin at various distances from a boundary";
  known->accesses += fault.accesses;
  known->saved += fault.saved;
}

void add(LineCost& line, const Pattern& pattern) {
  PatternCost one = cost_of(pattern);
  const std::uint64_t n = pattern.count;
  line.accesses += n;
  line.active_lanes += n * static_cast<unsigned>(std::popcount(pattern.mask));
  line.cost += n * static_cast<unsigned>(one.cost);
  line.least += n * static_cast<unsigned>(one.least);
  if (!one.fault) return;
  one.fault->accesses = n;
  one.fault->saved *= n;
  add_fault(line, *one.fault);
}

/// Lanes that stand idle, where they matter in their kernel: an atomic of one thread a block does
/// not.
void judge_lanes(LineCost& line, const KernelCost& kernel) {
  constexpr double idle_share = 0.1, kernel_share = 0.01;
  const bool matrix = line.operation == Op::matrix_load || line.operation == Op::matrix_store;
  const auto all_lanes = static_cast<double>(line.accesses * warp);
  if (matrix || static_cast<double>(line.active_lanes) > (1 - idle_share) * all_lanes ||
      static_cast<double>(line.accesses) < kernel_share * static_cast<double>(kernel.kept_accesses))
    return;
  Fault fault;
  fault.rule = Rule::partial_warp;
  fault.what = fmt::format("{:.1f} of 32 lanes active", static_cast<double>(line.active_lanes) /
                                                            static_cast<double>(line.accesses));
  fault.accesses = line.accesses;
  fault.saved = line.accesses - (line.active_lanes + warp - 1) / warp;
  if (kernel.threads_per_block % warp != 0)
    fault.fix = fmt::format(
        "blocks of {} threads leave the last warp partly empty: take a multiple "
        "of 32",
        kernel.threads_per_block);
  else
    fault.fix = "let neighbouring threads do the work, so that the other warps skip it";
  add_fault(line, fault);
}

/// One kernel over all its launches, in all processes.
struct Collected {
  KernelCost cost;
  using Key = std::tuple<std::string, unsigned, std::uint64_t, Space, Op, std::uint32_t>;
  std::map<Key, LineCost> lines;
};

void add_launch(Collected& kernel, const Launch& launch, const FindLine& find_line) {
  KernelCost& cost = kernel.cost;
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  cost.recorded_launches += 1;
  cost.blocks += blocks;
  cost.recorded_blocks += (blocks + launch.every - 1) / launch.every;
  cost.threads_per_block = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  cost.accesses += launch.counted;
  cost.kept_accesses += launch.kept;
  cost.recording_s += 1e-9 * static_cast<double>(launch.nanoseconds);
  std::map<std::uint64_t, std::optional<SourceLine>> sources;
  for (const Pattern& pattern : launch.kept_patterns) {
    const auto [source, is_new] = sources.try_emplace(pattern.pc);
    if (is_new && launch.code && pattern.pc < launch.code_bytes)
      source->second = find_line(*launch.code, launch.function, pattern.pc);
    const std::optional<SourceLine>& at = source->second;
    const LineCost none{.source = at,
                        .offset = pattern.pc,
                        .space = pattern.space,
                        .operation = pattern.op,
                        .bytes_per_lane = static_cast<int>(pattern.bytes),
                        .faults = {}};
    const Collected::Key key{at ? at->file : "", at ? at->line : 0, at ? 0 : pattern.pc,
                             pattern.space,      pattern.op,        pattern.bytes};
    LineCost& line = kernel.lines.try_emplace(key, none).first->second;
    line.offset = std::min(line.offset, pattern.pc);
    add(line, pattern);
  }
}

Measured measured_of(const std::string& function, Trace& trace) {
  Measured measured = std::move(trace.measured[function]);
  for (auto& [place, waiting] : trace.waits[function]) {
    if (waiting.samples == 0) continue;
    measured.samples += waiting.samples;
    measured.waits.push_back(std::move(waiting));
  }
  std::ranges::stable_sort(measured.waits, std::greater<>{}, &Waiting::samples);
  return measured;
}

}  // namespace

std::string short_name(const std::string& name) {
  constexpr std::size_t most = 120;
  return clean(name.size() <= most ? name : name.substr(0, most) + "...");
}

PatternCost cost_of(const Pattern& pattern) {
  if (pattern.mask == 0) return {};
  const WarpAccess access = access_of(pattern);
  PatternCost result =
      pattern.space == Space::global ? cost_of_global(access) : cost_of_shared(access);
  if (pattern.op == Op::atomic) result = {result.cost, result.cost, {}};
  return result;
}

Explanation explain(Trace trace, const FindLine& find_line) {
  Explanation result;
  std::map<std::string, Collected> kernels;
  std::size_t without_lines = 0;
  for (const std::string& note : trace.notes)
    result.notes.push_back(note + (note.ends_with('.') ? "" : "."));
  if (trace.cut_short)
    result.notes.emplace_back("A recording ends in the middle of a launch, which is left out.");
  for (const Launch& launch : trace.launches)
    add_launch(kernels[launch.function], launch, find_line);
  for (auto& [function, collected] : kernels) {
    KernelCost& kernel = collected.cost;
    kernel.function = clean(function);
    kernel.name = clean(source_name(function));
    kernel.measured = measured_of(function, trace);
    kernel.launches = std::max(kernel.recorded_launches, trace.totals[function]);
    for (auto& [key, line] : collected.lines) {
      judge_lanes(line, kernel);
      std::ranges::stable_sort(line.faults, std::greater<>{}, &Fault::saved);
      kernel.saved += line.saved;
      kernel.lines.push_back(std::move(line));
    }
    std::ranges::stable_sort(kernel.lines, {}, &LineCost::offset);
    std::ranges::stable_sort(kernel.lines, std::greater<>{}, &LineCost::saved);
    if (kernel.kept_accesses < kernel.accesses)
      result.notes.push_back(fmt::format(
          "Of {} only the first {} of {} accesses fitted: record fewer --blocks.",
          short_name(kernel.name), format_count(static_cast<double>(kernel.kept_accesses)),
          format_count(static_cast<double>(kernel.accesses))));
    const auto is_placeless = [](const LineCost& line) { return !line.source; };
    without_lines += std::ranges::any_of(kernel.lines, is_placeless) ? 1 : 0;
    result.kernels.push_back(std::move(kernel));
  }
  if (without_lines != 0)
    result.notes.push_back(
        fmt::format("{} without line information, at least in parts: compile with -lineinfo.",
                    counted(without_lines, "kernel")));
  std::ranges::stable_sort(result.kernels, std::greater<>{}, &KernelCost::saved);
  return result;
}

}  // namespace fathom::explain
