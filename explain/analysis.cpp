#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "explain/explain.h"
#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "models/swizzle.h"
#include "models/warp_access.h"
#include "results/text.h"

namespace fathom::explain {
namespace {

using models::WarpAccess;

WarpAccess access_of(const Pattern& pattern) {
  // Matrix instructions never merge the rows of two matrices; nor do stores.
  const bool load = pattern.op == Op::load || pattern.op == Op::async_read;
  WarpAccess access{.op = load ? models::Access::load : models::Access::store,
                    .bytes_per_lane = static_cast<int>(pattern.bytes),
                    .active_mask = pattern.mask};
  std::copy_n(pattern.address, models::warp_size, access.address.begin());
  return access;
}

/// The distinct addresses of lanes, cut where they do not go on: `rows` pieces of `row` elements,
/// `pitch` bytes apart.
struct Rows {
  std::size_t rows = 1, row = 1;
  std::uint64_t pitch = 0;
  bool equal = true;  ///< in length and distance; else the others are guessed from the first piece
  std::uint64_t lowest = 0;
};

Rows rows_of(const WarpAccess& access) {
  std::set<std::uint64_t> distinct;
  for (int lane = 0; lane < models::warp_size; ++lane)
    if (access.active(lane)) distinct.insert(access.address[lane]);
  const std::vector<std::uint64_t> addresses(distinct.begin(), distinct.end());
  const auto bytes = static_cast<unsigned>(access.bytes_per_lane);
  const auto cut = std::ranges::adjacent_find(
      addresses, [&](std::uint64_t one, std::uint64_t next) { return next != one + bytes; });
  const std::size_t all = addresses.size();
  if (cut == addresses.end()) return {1, all, 0, true, addresses.front()};
  const auto row = static_cast<std::size_t>(cut - addresses.begin()) + 1;
  Rows rows{(all + row - 1) / row, row, cut[1] - addresses.front(), all % row == 0,
            addresses.front()};
  for (std::size_t i = 0; i < all; ++i)
    rows.equal = rows.equal && addresses[i] == rows.lowest + i / row * rows.pitch + i % row * bytes;
  return rows;
}

/// "lanes 16 bytes apart"
std::string distance(const Rows& rows) {
  return fmt::format("{} {} bytes apart",
                     rows.row == 1 ? "lanes" : fmt::format("groups of {} lanes", rows.row),
                     rows.pitch);
}

Fault global_fault(const Rows& rows, const WarpAccess& access) {
  constexpr auto sector = models::sector_bytes;
  // Rows that are whole sectors long lose by where they begin alone.
  if (rows.rows == 1 ||
      (rows.equal && rows.row * static_cast<unsigned>(access.bytes_per_lane) >= sector))
    return {Rule::misalignment,
            rows.rows == 1
                ? fmt::format("it begins {} bytes behind a 32-byte boundary", rows.lowest % sector)
                : fmt::format("rows {} bytes apart", rows.pitch),
            "let each row of data begin on a multiple of 32 bytes: pad the rows, or shift the "
            "start"};
  if (rows.equal)
    return {Rule::stride, distance(rows),
            "let neighbouring lanes take neighbouring elements: a structure of arrays, or a tile "
            "turned over in shared memory"};
  return {Rule::scatter, "lanes anywhere",
          "sort or group what lanes take, so that those of a warp fall into the same sectors"};
}

/// A tile in which a warp takes `rows` pieces of `row` elements.
models::TileUse tile_of(const Rows& rows, const WarpAccess& access) {
  using Order = models::TileAccess::Order;
  const bool block = rows.row > 1 && rows.rows * rows.row == models::warp_size;
  const bool load = access.op == models::Access::load;
  return {.rows = models::warp_size,
          .row_elements = static_cast<int>(rows.pitch) / access.bytes_per_lane,
          .element_bytes = access.bytes_per_lane,
          .accesses = {{.op = load ? models::Access::store : models::Access::load,
                        .order = Order::row,
                        .bytes_per_lane = access.bytes_per_lane},
                       {.op = access.op,
                        .order = block ? Order::block : Order::column,
                        .bytes_per_lane = access.bytes_per_lane,
                        .block_rows = block ? static_cast<int>(rows.rows) : 8}}};
}

/// The layouts that `fathom predict swizzle` would name, best first; none for too large a tile, or
/// rows that no access divides.
std::vector<models::LayoutCost> layouts_of(const models::TileUse& tile) try {
  constexpr std::size_t enough = 100;  // all without conflicts: swizzles waste nothing, so lead
  return models::search_layouts(tile, enough);
} catch (const std::invalid_argument&) {
  return {};
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
std::string layout_fix(const Rows& rows, const WarpAccess& access) {
  using Key = std::tuple<std::size_t, std::size_t, std::uint64_t, int, models::Access>;
  static std::map<Key, std::vector<models::LayoutCost>> known;
  const models::TileUse tile = tile_of(rows, access);
  const auto [layouts, is_new] =
      known.try_emplace({rows.rows, rows.row, rows.pitch, access.bytes_per_lane, access.op});
  if (is_new) layouts->second = layouts_of(tile);
  std::vector<std::string> fixes;
  for (const auto& [swizzled, kind] : {std::pair(false, "padded rows"), {true, "XOR swizzle"}}) {
    const auto best = std::ranges::find_if(layouts->second, [&](const models::LayoutCost& one) {
      return (one.layout.bits != 0) == swizzled &&
             models::shared_cost(moved(access, tile, one.layout, rows.lowest)).conflicts == 0;
    });
    if (best != layouts->second.end())
      fixes.push_back(fmt::format("`{}` ({})", models::index_formula(tile, best->layout), kind));
  }
  return fixes.empty() ? ""
                       : fmt::format("index the tile by {}, in elements of {} bytes",
                                     fmt::join(fixes, " or "), access.bytes_per_lane);
}

/// Without a fix where none is known.
Fault shared_fault(const Rows& rows, const WarpAccess& access, const PatternCost& cost) {
  Fault fault{Rule::bank_conflict,
              fmt::format("{} wavefronts instead of {}", cost.cost, cost.least), ""};
  if (rows.equal && rows.rows > 1 &&
      rows.pitch % static_cast<unsigned>(access.bytes_per_lane) == 0) {
    fault.what += ", " + distance(rows);
    fault.fix = layout_fix(rows, access);
  }
  return fault;
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
  const auto lanes = static_cast<double>(line.active_lanes);
  const auto accesses = static_cast<double>(line.accesses);
  if (matrix || lanes > (1 - idle_share) * accesses * warp ||
      accesses < kernel_share * static_cast<double>(kernel.kept_accesses))
    return;
  const std::string fix =
      kernel.threads_per_block % warp == 0
          ? "let neighbouring threads do the work, so that the other warps skip it"
          : fmt::format(
                "blocks of {} threads leave the last warp partly empty: take a multiple of 32",
                kernel.threads_per_block);
  add_fault(line, {Rule::partial_warp, fmt::format("{:.1f} of 32 lanes active", lanes / accesses),
                   fix, line.accesses - (line.active_lanes + warp - 1) / warp, line.accesses});
}

/// One kernel over all its launches, in all processes.
struct Collected : KernelCost {
  /// A source line, or an instruction without one.
  using Place = std::tuple<std::optional<std::string>, std::optional<unsigned>, std::uint64_t>;
  std::map<std::tuple<Place, Space, Op, int>, LineCost> by_place;
  std::map<Place, Waiting> waits;
};

Collected::Place key_of(const std::optional<SourceLine>& source, std::uint64_t offset) {
  if (!source) return {std::nullopt, std::nullopt, offset};
  return {source->file, source->line, 0};
}

void add_launch(Collected& kernel, const Launch& launch, const FindLine& find_line) {
  kernel.recorded_launches += 1;
  kernel.blocks += launch.blocks;
  kernel.recorded_blocks += (launch.blocks + launch.every - 1) / launch.every;
  kernel.threads_per_block = launch.threads;
  kernel.accesses += launch.counted;
  kernel.kept_accesses += launch.kept;
  kernel.recording_s += 1e-9 * static_cast<double>(launch.nanoseconds);
  std::map<std::uint64_t, std::optional<SourceLine>> sources;
  for (const Pattern& pattern : launch.kept_patterns) {
    const auto [source, is_new] = sources.try_emplace(pattern.pc);
    if (is_new && launch.code && pattern.pc < launch.code_bytes)
      source->second = find_line(*launch.code, launch.function, pattern.pc);
    LineCost& line = kernel.by_place[{key_of(source->second, pattern.pc), pattern.space, pattern.op,
                                      static_cast<int>(pattern.bytes)}];
    line.offset = line.accesses == 0 ? pattern.pc : std::min(line.offset, pattern.pc);
    add(line, pattern);
  }
}

void add_sample(Collected& kernel, const PcSample& sample) {
  Waiting& waiting = kernel.waits[key_of(sample.source, sample.pc_offset)];
  waiting.offset = sample.pc_offset;
  for (const auto& [reason, samples] : sample.by_reason) {
    if (reason == "selected") continue;  // an issue, no waiting
    waiting.reasons[reason] += samples;
    waiting.samples += samples;
  }
}

/// A level of the memory, the fact that says what it can do, and what moved there.
struct Level {
  const char *name, *fact;
  std::array<const char*, 2> roles;
  double bytes;  ///< of one count: a wavefront of shared memory as if it took all banks
};
constexpr Level levels[] = {{"DRAM", "dram.bandwidth", {"dram_read_bytes", "dram_write_bytes"}, 1},
                            {"L2", "l2.bandwidth", {"l2_read_sectors", "l2_write_sectors"}, 32},
                            {"shared memory",
                             "shared.bandwidth",
                             {"shared_load_wavefronts", "shared_store_wavefronts"},
                             128}};

void add_measured(Collected& kernel, const std::vector<Counts>& counted, const Bounds& bounds) {
  Measured measured;
  for (auto& [place, waiting] : kernel.waits) {
    if (waiting.samples == 0) continue;
    std::tie(waiting.file, waiting.line, std::ignore) = place;
    measured.samples += waiting.samples;
    measured.waits.push_back(std::move(waiting));
  }
  if (counted.empty() && measured.samples == 0) return;
  for (Waiting& waiting : measured.waits)
    waiting.share = static_cast<double>(waiting.samples) / static_cast<double>(measured.samples);
  std::ranges::stable_sort(measured.waits, std::greater<>{}, &Waiting::samples);
  measured.launches = counted.size();
  for (const Counts& counts : counted)
    for (const auto& [role, count] : counts) measured.counters[role] += count;
  for (const LineCost& line : kernel.lines)
    add_counts(measured.recorded, line.space, line.operation, line.cost, line.least);
  const auto count_of = [&](const char* role) {
    const auto found = measured.counters.find(role);
    return found == measured.counters.end() ? 0 : found->second;
  };
  measured.seconds = 1e-9 * count_of("gpu_time");
  for (const auto& [level, fact, roles, bytes] : levels) {
    double moved = 0;
    for (const char* role : roles) moved += bytes * count_of(role);
    Bandwidth& bandwidth = measured.bandwidths.emplace_back(Bandwidth{.level = level, .bound = {}});
    if (measured.seconds > 0) bandwidth.bytes_per_second = moved / measured.seconds;
    if (const auto bound = bounds.by_level.find(level); bound != bounds.by_level.end())
      bandwidth.bound = bound->second;
  }
  kernel.measured = std::move(measured);
}

/// Brings the lines into the order of the pages.
void add_lines(Collected& kernel) {
  for (auto& [key, line] : kernel.by_place) {
    Collected::Place place;
    std::tie(place, line.space, line.operation, line.bytes_per_lane) = key;
    std::tie(line.file, line.line, std::ignore) = place;
    judge_lanes(line, kernel);
    std::ranges::stable_sort(line.faults, std::greater<>{}, &Fault::saved);
    (line.space == Space::global ? line.sectors : line.wavefronts) = line.cost;
    (line.space == Space::global ? line.least_sectors : line.least_wavefronts) = line.least;
    kernel.saved += line.saved;
    kernel.lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(kernel.lines, {}, &LineCost::offset);
  std::ranges::stable_sort(kernel.lines, std::greater<>{}, &LineCost::saved);
}

}  // namespace

Bounds bounds_of(const Document& atlas, const std::string& source) {
  Bounds bounds{{}, source};
  for (const Level& level : levels)
    for (const Fact& fact : atlas.facts)
      if (fact.id == level.fact && fact.value) bounds.by_level[level.name] = *fact.value;
  return bounds;
}

PatternCost cost_of(const Pattern& pattern) {
  PatternCost result;
  if (pattern.mask == 0) return result;
  const WarpAccess access = access_of(pattern);
  if (pattern.space == Space::global) {
    constexpr auto sector = static_cast<int>(models::sector_bytes);
    result.cost = models::sectors(access);
    result.least = (models::distinct_bytes(access) + sector - 1) / sector;
  } else {
    const models::SharedCost cost = models::shared_cost(access);
    result.cost = cost.wavefronts;
    result.least = cost.wavefronts - cost.conflicts;
  }
  if (pattern.op == Op::atomic) result.least = result.cost;
  if (result.cost <= result.least) return result;
  const Rows rows = rows_of(access);
  result.fault = pattern.space == Space::global ? global_fault(rows, access)
                                                : shared_fault(rows, access, result);
  if (result.fault->fix.empty())
    result.fault->fix =
        "no padding or XOR swizzle is known for it: spread what lanes take over the banks";
  else
    result.fault->saved = static_cast<unsigned>(result.cost - result.least);
  return result;
}

Explanation explain(Trace trace, const FindLine& find_line, const Bounds& bounds) {
  Explanation result;
  std::map<std::string, Collected> kernels;
  std::size_t without_lines = 0;
  for (const std::string& note : trace.notes)
    result.notes.push_back(clean(note) + (note.ends_with('.') ? "" : "."));
  if (trace.cut_short)
    result.notes.emplace_back("A recording ends in the middle of a launch, which is left out.");
  for (const Launch& launch : trace.launches)
    add_launch(kernels[launch.function], launch, find_line);
  for (const PcSample& sample : trace.samples)
    if (const auto kernel = kernels.find(sample.function); kernel != kernels.end())
      add_sample(kernel->second, sample);
  for (auto& [function, kernel] : kernels) {
    kernel.function = clean(function);
    kernel.name = clean(source_name(function));
    kernel.launches = std::max(kernel.recorded_launches, trace.totals[function]);
    add_lines(kernel);
    add_measured(kernel, trace.counted[function], bounds);
    if (kernel.kept_accesses < kernel.accesses)
      result.notes.push_back(
          fmt::format("Of {} only the first {} of {} accesses fitted: record fewer --blocks.",
                      quotable(kernel.name, longest_name),
                      format_count(static_cast<double>(kernel.kept_accesses)),
                      format_count(static_cast<double>(kernel.accesses))));
    const auto is_placeless = [](const LineCost& line) { return !line.file; };
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
