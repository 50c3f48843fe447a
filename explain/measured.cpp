#include "explain/measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "explain/analysis.h"
#include "results/clean_text.h"
#include "results/format.h"

namespace fathom::explain {
namespace {

double count(const std::map<std::string, double>& counts, const std::string& role) {
  const auto found = counts.find(role);
  return found == counts.end() ? 0 : found->second;
}

/// A level of the memory, the fact that says what it can do, and what moved there.
struct Level {
  const char *name, *fact;
  std::array<const char*, 2> roles;
  double bytes;  ///< of one count
};
constexpr Level levels[] = {{"DRAM", "dram.bandwidth", {"dram_read_bytes", "dram_write_bytes"}, 1},
                            {"L2", "l2.bandwidth", {"l2_read_sectors", "l2_write_sectors"}, 32},
                            {"shared memory",
                             "shared.bandwidth",
                             {"shared_load_wavefronts", "shared_store_wavefronts"},
                             128}};

double seconds(const Measured& measured) { return 1e-9 * count(measured.counts, "gpu_time"); }

/// Bytes a second; of shared memory as if each wavefront took all its banks.
double rate(const Measured& measured, const Level& level) {
  double moved = 0;
  for (const char* role : level.roles) moved += level.bytes * count(measured.counts, role);
  return seconds(measured) > 0 ? moved / seconds(measured) : 0;
}

std::string rates_line(const Measured& measured, const Bounds& bounds) {
  std::vector<std::string> parts;
  for (const Level& level : levels) {
    const double moved = rate(measured, level);
    if (moved == 0) continue;
    parts.push_back(fmt::format("{} {}", level.name, format_bandwidth(moved)));
    if (const auto bound = bounds.by_level.find(level.name); bound != bounds.by_level.end())
      parts.back() += fmt::format(" of {} ({})", format_bandwidth(bound->second),
                                  format_percent(moved / bound->second));
  }
  return fmt::format("{} a launch while counted: {}",
                     format_time(seconds(measured) / static_cast<double>(measured.launches)),
                     fmt::join(parts, ", "));
}

/// Sums over all recorded accesses: what the counters must say if all blocks were recorded.
std::map<std::string, double> recorded_counts(const KernelCost& kernel) {
  std::map<std::string, double> counts;
  for (const LineCost& line : kernel.lines)
    add_counts(counts, line.space, line.op, line.cost, line.least);
  return counts;
}

/// "12,288 sectors of global loads", ...; "98,304 wavefronts of shared loads (95,232 conflicts)".
std::string counters_line(const KernelCost& kernel) {
  const auto& counts = kernel.measured.counts;
  std::vector<std::string> parts;
  for (const std::string space : {"global", "shared"}) {
    for (const std::string kind : {"load", "store"}) {
      const std::string unit = space == "global" ? "sectors" : "wavefronts";
      const double cost = count(counts, fmt::format("{}_{}_{}", space, kind, unit));
      const double conflicts = count(counts, fmt::format("{}_{}_conflicts", space, kind));
      if (cost == 0) continue;
      parts.push_back(fmt::format("{} {} of {} {}s", format_count(cost), unit, space, kind));
      if (conflicts != 0) parts.back() += fmt::format(" ({} conflicts)", format_count(conflicts));
    }
  }
  std::string line = fmt::format("counters: {}", fmt::join(parts, ", "));
  const bool whole = kernel.recorded_blocks == kernel.blocks && kernel.kept == kernel.accesses &&
                     kernel.measured.launches == kernel.recorded_launches;
  if (!whole) return line + "; the recording is of a part (all of it: --blocks 0)";
  std::vector<std::string> others;
  const std::map<std::string, double> recorded = recorded_counts(kernel);
  for (const auto& [role, counted] : counts) {
    const bool both = role.starts_with("global_") || role.starts_with("shared_");
    if (both && count(recorded, role) != counted)
      others.push_back(fmt::format("{} {}", format_count(count(recorded, role)), role));
  }
  return line + (others.empty() ? "; the recording says the same"
                                : fmt::format("; recorded: {}", fmt::join(others, ", ")));
}

std::string waits_line(const Measured& measured) {
  constexpr std::size_t most = 3;
  std::vector<std::string> parts;
  for (const Waiting& waiting : measured.waits) {
    if (parts.size() == most) break;
    const auto main = std::ranges::max_element(waiting.by_reason, {},
                                               [](const auto& reason) { return reason.second; });
    parts.push_back(fmt::format("{} at {} ({})",
                                format_percent(static_cast<double>(waiting.samples) /
                                               static_cast<double>(measured.samples)),
                                place(waiting.source, waiting.offset), main->first));
  }
  return fmt::format("warps wait: {}", fmt::join(parts, ", "));
}

}  // namespace

std::string place(const std::optional<SourceLine>& source, std::uint64_t offset) {
  return source ? place_of(*source) : fmt::format("+0x{:04x}", offset);
}

nlohmann::ordered_json place_json(const std::optional<SourceLine>& source, std::uint64_t offset) {
  if (!source) return {{"file", nullptr}, {"line", nullptr}, {"offset", offset}};
  return {{"file", clean(source->file)}, {"line", source->line}, {"offset", offset}};
}

Bounds bounds_of(const Document& atlas, const std::string& source) {
  Bounds bounds{{}, source};
  for (const Level& level : levels)
    for (const Fact& fact : atlas.facts)
      if (fact.id == level.fact && fact.value) bounds.by_level[level.name] = *fact.value;
  return bounds;
}

void add_counts(std::map<std::string, double>& counts, Space space, Op op, std::uint64_t cost,
                std::uint64_t least) {
  // No counter of these six has what cp.async writes, nor atomics.
  if (op == Op::atomic || op == Op::async_write) return;
  const bool load = op == Op::load || op == Op::async_read || op == Op::matrix_load;
  const std::string kind = load ? "load" : "store";
  if (space == Space::global) {
    counts["global_" + kind + "_sectors"] += static_cast<double>(cost);
  } else {
    counts["shared_" + kind + "_wavefronts"] += static_cast<double>(cost);
    counts["shared_" + kind + "_conflicts"] += static_cast<double>(cost - least);
  }
}

std::vector<std::string> measured_lines(const KernelCost& kernel, const Bounds& bounds) {
  const Measured& measured = kernel.measured;
  std::vector<std::string> lines;
  if (seconds(measured) > 0) lines.push_back(rates_line(measured, bounds));
  if (measured.launches != 0) lines.push_back(counters_line(kernel));
  if (measured.samples != 0) lines.push_back(waits_line(measured));
  return lines;
}

nlohmann::ordered_json measured_json(const KernelCost& kernel, const Bounds& bounds) {
  const Measured& measured = kernel.measured;
  if (measured.launches == 0 && measured.samples == 0) return nullptr;
  nlohmann::ordered_json json{{"launches", measured.launches},
                              {"seconds", seconds(measured)},
                              {"counters", measured.counts},
                              {"recorded", recorded_counts(kernel)}};
  auto rates = nlohmann::ordered_json::array();
  for (const Level& level : levels) {
    const auto bound = bounds.by_level.find(level.name);
    nlohmann::ordered_json known;
    if (bound != bounds.by_level.end()) known = bound->second;
    rates.push_back({{"level", level.name},
                     {"bytes_per_second", rate(measured, level)},
                     {"bound", std::move(known)}});
  }
  json["bandwidths"] = std::move(rates);
  json["samples"] = measured.samples;
  auto waits = nlohmann::ordered_json::array();
  for (const Waiting& waiting : measured.waits) {
    nlohmann::ordered_json one = place_json(waiting.source, waiting.offset);
    one.update(
        {{"samples", waiting.samples},
         {"share", static_cast<double>(waiting.samples) / static_cast<double>(measured.samples)},
         {"reasons", waiting.by_reason}});
    waits.push_back(std::move(one));
  }
  json["waits"] = std::move(waits);
  return json;
}

}  // namespace fathom::explain
