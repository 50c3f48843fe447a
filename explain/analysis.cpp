#include "explain/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "models/warp_access.h"
#include "results/clean_text.h"
#include "results/format.h"

namespace fathom::explain {
namespace {

constexpr std::uint64_t warp = models::warp_size;

/// Misalignments with the same fix are one, however far off they are.
void add_fault(LineCost& line, const Fault& fault, std::uint64_t accesses, std::uint64_t saved) {
  auto known = std::ranges::find_if(line.faults, [&](const Finding& f) {
    return f.rule == fault.rule && f.fix == fault.fix &&
           (f.what == fault.what || fault.rule == Rule::misalignment);
  });
  if (known == line.faults.end()) known = line.faults.insert(known, Finding{fault, 0, 0});
  if (known->what != fault.what) known->what = "warps begin at various distances from a boundary";
  known->accesses += accesses;
  known->saved += saved;
}

void add(LineCost& line, const Pattern& pattern) {
  const PatternCost one = cost_of(pattern);
  const std::uint64_t n = pattern.count;
  line.accesses += n;
  line.lanes += n * static_cast<unsigned>(std::popcount(pattern.mask));
  line.cost += n * static_cast<unsigned>(one.cost);
  line.least += n * static_cast<unsigned>(one.least);
  if (one.fault) add_fault(line, *one.fault, n, n * static_cast<unsigned>(one.saved));
}

/// Lanes that stand idle, where they matter in their kernel: an atomic of one thread a block does
/// not.
void judge_lanes(LineCost& line, const KernelCost& kernel) {
  constexpr double idle_share = 0.1, kernel_share = 0.01;
  const bool matrix = line.op == Op::matrix_load || line.op == Op::matrix_store;
  const auto all_lanes = static_cast<double>(line.accesses * warp);
  if (matrix || static_cast<double>(line.lanes) > (1 - idle_share) * all_lanes ||
      static_cast<double>(line.accesses) < kernel_share * static_cast<double>(kernel.kept))
    return;
  Fault fault{Rule::partial_warp, "", ""};
  fault.what = fmt::format("{:.1f} of 32 lanes active",
                           static_cast<double>(line.lanes) / static_cast<double>(line.accesses));
  if (kernel.block_threads % warp != 0)
    fault.fix = fmt::format(
        "blocks of {} threads leave the last warp partly empty: take a multiple "
        "of 32",
        kernel.block_threads);
  else
    fault.fix = "let neighbouring threads do the work, so that the other warps skip it";
  add_fault(line, fault, line.accesses, line.accesses - (line.lanes + warp - 1) / warp);
}

/// One kernel over all its launches, in all processes.
struct Collected {
  KernelCost cost;
  using Key = std::tuple<std::string, unsigned, std::uint64_t, Space, Op, int>;
  std::map<Key, LineCost> lines;
  bool lines_missing = false;
};

void add_launch(Collected& kernel, const Launch& launch, const FindLine& find_line) {
  KernelCost& cost = kernel.cost;
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  cost.recorded_launches += 1;
  cost.blocks += blocks;
  cost.recorded_blocks += (blocks + launch.every - 1) / launch.every;
  cost.block_threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  cost.accesses += launch.counted;
  cost.kept += launch.kept;
  cost.seconds += 1e-9 * static_cast<double>(launch.nanoseconds);
  std::map<std::uint64_t, std::optional<SourceLine>> sources;
  for (const Pattern& pattern : launch.kept_patterns) {
    const auto [source, is_new] = sources.try_emplace(pattern.pc);
    if (is_new && launch.code && pattern.pc < launch.code_bytes)
      source->second = find_line(*launch.code, launch.function, pattern.pc);
    const std::optional<SourceLine>& at = source->second;
    kernel.lines_missing = kernel.lines_missing || !at;
    LineCost& line = kernel.lines[{at ? at->file : "", at ? at->line : 0, at ? 0 : pattern.pc,
                                   pattern.space, pattern.op, static_cast<int>(pattern.bytes)}];
    line.offset = line.accesses == 0 ? pattern.pc : std::min(line.offset, pattern.pc);
    line.source = at;
    line.space = pattern.space;
    line.op = pattern.op;
    line.bytes = static_cast<int>(pattern.bytes);
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

std::uint64_t LineCost::saved() const {
  std::uint64_t sum = 0;
  for (const Finding& fault : faults) sum += fault.saved;
  return sum;
}

std::uint64_t KernelCost::saved() const {
  std::uint64_t sum = 0;
  for (const LineCost& line : lines) sum += line.saved();
  return sum;
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
    kernel.function = function;
    kernel.name = source_name(function);
    kernel.measured = measured_of(function, trace);
    kernel.launches = std::max(kernel.recorded_launches, trace.totals[function]);
    for (auto& [key, line] : collected.lines) {
      judge_lanes(line, kernel);
      std::ranges::stable_sort(line.faults, std::greater<>{}, &Finding::saved);
      kernel.lines.push_back(std::move(line));
    }
    std::ranges::stable_sort(kernel.lines, {}, &LineCost::offset);
    std::ranges::stable_sort(kernel.lines, std::greater<>{}, &LineCost::saved);
    if (kernel.kept < kernel.accesses)
      result.notes.push_back(
          fmt::format("Of {} only the first {} of {} accesses fitted: record fewer --blocks.",
                      short_name(kernel.name), format_count(static_cast<double>(kernel.kept)),
                      format_count(static_cast<double>(kernel.accesses))));
    without_lines += collected.lines_missing ? 1 : 0;
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
