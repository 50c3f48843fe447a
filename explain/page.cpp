#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "explain/explain.h"
#include "reports/page/page.h"
#include "results/error.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom {

FATHOM_FIELDS(explain::Fault, "", "", rule, what, fix, accesses, saved);
FATHOM_FIELDS(explain::LineCost, "", "", space, operation, bytes_per_lane, accesses, active_lanes);
FATHOM_FIELDS(explain::KernelCost, "", "", name, function, launches, recorded_launches, blocks,
              recorded_blocks, threads_per_block, accesses, kept_accesses, recording_s);

}  // namespace fathom

namespace fathom::explain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string count(std::uint64_t number) { return format_count(static_cast<double>(number)); }

std::string place(const std::optional<SourceLine>& source, std::uint64_t offset) {
  return source ? place_of(*source) : fmt::format("+0x{:04x}", offset);
}

double counted_of(const Counts& counts, const std::string& role) {
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

double seconds(const Measured& measured) { return 1e-9 * counted_of(measured.counts, "gpu_time"); }

/// What moved at a level of the memory in a second, and what this GPU can move there.
struct Bandwidth {
  const char* level;
  double moved;
  std::optional<double> bound;  ///< none: not measured
};

/// A wavefront of shared memory counts as if it took all banks.
std::vector<Bandwidth> bandwidths_of(const Measured& measured, const Bounds& bounds) {
  std::vector<Bandwidth> all;
  for (const Level& level : levels) {
    double moved = 0;
    for (const char* role : level.roles) moved += level.bytes * counted_of(measured.counts, role);
    all.push_back({level.name, seconds(measured) > 0 ? moved / seconds(measured) : 0, {}});
    if (const auto bound = bounds.by_level.find(level.name); bound != bounds.by_level.end())
      all.back().bound = bound->second;
  }
  return all;
}

std::string rates_line(const Measured& measured, const Bounds& bounds) {
  std::vector<std::string> parts;
  for (const auto& [level, moved, bound] : bandwidths_of(measured, bounds)) {
    if (moved == 0) continue;
    parts.push_back(fmt::format("{} {}", level, format_bandwidth(moved)));
    if (bound)
      parts.back() +=
          fmt::format(" of {} ({})", format_bandwidth(*bound), format_percent(moved / *bound));
  }
  return fmt::format("{} a launch while counted: {}",
                     format_time(seconds(measured) / static_cast<double>(measured.launches)),
                     fmt::join(parts, ", "));
}

/// "12,288 sectors of global loads", ...; "98,304 wavefronts of shared loads (95,232 conflicts)".
std::string counters_line(const KernelCost& kernel) {
  const auto& counts = kernel.measured.counts;
  std::vector<std::string> parts;
  for (const auto& [space, unit] : {std::pair("global", "sectors"), {"shared", "wavefronts"}}) {
    for (const char* const kind : {"load", "store"}) {
      const double cost = counted_of(counts, fmt::format("{}_{}_{}", space, kind, unit));
      const double conflicts = counted_of(counts, fmt::format("{}_{}_conflicts", space, kind));
      if (cost == 0) continue;
      parts.push_back(fmt::format("{} {} of {} {}s", format_count(cost), unit, space, kind));
      if (conflicts != 0) parts.back() += fmt::format(" ({} conflicts)", format_count(conflicts));
    }
  }
  std::string line = fmt::format("counters: {}", fmt::join(parts, ", "));
  const bool whole = kernel.recorded_blocks == kernel.blocks &&
                     kernel.kept_accesses == kernel.accesses &&
                     kernel.measured.launches == kernel.recorded_launches;
  if (!whole) return line + "; the recording is of a part (all of it: --blocks 0)";
  std::vector<std::string> others;
  for (const auto& [role, counted] : counts) {
    const bool both = role.starts_with("global_") || role.starts_with("shared_");
    if (both && counted_of(kernel.recorded, role) != counted)
      others.push_back(fmt::format("{} {}", format_count(counted_of(kernel.recorded, role)), role));
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

const char* unit_of(Space space) { return space == Space::global ? "sectors" : "wavefronts"; }

std::string saving(const LineCost& line, const Fault& fault) {
  if (fault.saved == 0) return "";
  const bool lanes = fault.rule == Rule::partial_warp;
  const std::uint64_t from = lanes ? line.accesses : line.cost;
  return fmt::format(": {}{}{} fewer of {} ({})", fault.rule == Rule::scatter ? "at most " : "",
                     count(fault.saved), lanes ? " accesses" : "", count(from),
                     format_percent(static_cast<double>(fault.saved) / static_cast<double>(from)));
}

/// Also notes the file among those that the answer takes along.
Json place_json(const std::optional<SourceLine>& source, std::uint64_t offset,
                std::set<std::string>& files) {
  if (!source) return {{"file", nullptr}, {"line", nullptr}, {"offset", offset}};
  files.insert(source->file);
  return {{"file", clean(source->file)}, {"line", source->line}, {"offset", offset}};
}

Json measured_json(const KernelCost& kernel, const Bounds& bounds, std::set<std::string>& files) {
  const Measured& measured = kernel.measured;
  if (measured.launches == 0 && measured.samples == 0) return nullptr;
  Json json{{"launches", measured.launches}, {"seconds", seconds(measured)},
            {"counters", measured.counts},   {"recorded", kernel.recorded},
            {"bandwidths", Json::array()},   {"samples", measured.samples},
            {"waits", Json::array()}};
  for (const auto& [level, moved, bound] : bandwidths_of(measured, bounds))
    json["bandwidths"].push_back(
        {{"level", level}, {"bytes_per_second", moved}, {"bound", write_fields(bound)}});
  for (const Waiting& waiting : measured.waits) {
    Json& one = json["waits"].emplace_back(place_json(waiting.source, waiting.offset, files));
    one["samples"] = waiting.samples;
    one["share"] = static_cast<double>(waiting.samples) / static_cast<double>(measured.samples);
    one["reasons"] = waiting.by_reason;
  }
  return json;
}

/// A source file's text as it is now; nothing for one that is too large or cannot be read, which
/// the answer does without.
std::optional<std::string> text_of(const std::string& file) try {
  constexpr std::size_t most_bytes = 1u << 20;
  std::error_code none;
  // A device or a pipe would be waited for.
  if (!fs::is_regular_file(file, none)) return std::nullopt;
  const std::string text = read_file_up_to(file, most_bytes);
  std::istringstream lines{std::string(without_byte_order_mark(text))};
  std::string out;
  for (std::string line; std::getline(lines, line); out += "\n") {
    if (line.ends_with('\r')) line.pop_back();
    std::string spaced;
    for (const char c : line) spaced.append(c == '\t' ? 4 : 1, c == '\t' ? ' ' : c);
    out += clean(spaced);
  }
  return out;
} catch (const Error&) {
  return std::nullopt;
}

std::string json_of(const Explanation& explanation, const RunFacts& run) {
  Json document{{"format", reports::explained_format},
                {"command", clean(run.command)},
                {"seconds", run.seconds},
                {"end", run.end},
                {"notes", explanation.notes},
                {"kernels", Json::array()},
                {"sources", Json::array()}};
  std::set<std::string> files;
  for (const KernelCost& kernel : explanation.kernels) {
    Json& json = document["kernels"].emplace_back(write_fields(kernel));
    json["lines"] = Json::array();
    for (const LineCost& line : kernel.lines) {
      Json& one = json["lines"].emplace_back(place_json(line.source, line.offset, files));
      one.update(write_fields(line));
      one[unit_of(line.space)] = line.cost;
      one[fmt::format("least_{}", unit_of(line.space))] = line.least;
      one["faults"] = write_fields(line.faults);
    }
    json["measured"] = measured_json(kernel, run.bounds, files);
  }
  for (const std::string& file : files)
    if (const auto text = text_of(file))
      document["sources"].push_back({{"file", clean(file)}, {"text", *text}});
  return document.dump(2) + "\n";
}

}  // namespace

Bounds bounds_of(const Document& atlas, const std::string& source) {
  Bounds bounds{{}, source};
  for (const Level& level : levels)
    for (const Fact& fact : atlas.facts)
      if (fact.id == level.fact && fact.value) bounds.by_level[level.name] = *fact.value;
  return bounds;
}

void add_counts(Counts& counts, Space space, Op op, std::uint64_t cost, std::uint64_t least) {
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

std::string page_of(const Explanation& explanation, const RunFacts& run,
                    const std::string& format) {
  if (format == "json") return json_of(explanation, run);
  const bool markdown = format == "md";
  const char *const heading = markdown ? "\n### " : "\n", *const item = markdown ? "- " : "  ",
                    *const under = markdown ? "  - " : "      ";
  double recording = 0;
  for (const KernelCost& kernel : explanation.kernels) recording += kernel.recording_s;
  std::string page =
      fmt::format("{} ran {} and ended with {}; recording took {} of that.\n", run.command,
                  format_time(run.seconds), run.end, format_time(recording));
  const auto add = [&](const char* mark, const std::string& text) { page += mark + text + "\n"; };
  for (const std::string& note : explanation.notes) add("", note);
  if (!run.bounds.source.empty())
    add("", fmt::format("What this GPU can move is as measured in {}.", run.bounds.source));
  std::size_t without_access = 0;
  for (const KernelCost& kernel : explanation.kernels) {
    if (kernel.lines.empty()) {
      ++without_access;
      continue;
    }
    add(heading, quotable(kernel.name, longest_name));
    add(markdown ? "\n" : "  ",
        fmt::format(
            "{} of {} launches, {} of their {} blocks of {} threads; {} accesses by warps{}",
            count(kernel.recorded_launches), count(kernel.launches), count(kernel.recorded_blocks),
            count(kernel.blocks), count(kernel.threads_per_block), count(kernel.kept_accesses),
            markdown ? "\n" : ""));
    const Measured& measured = kernel.measured;
    if (seconds(measured) > 0) add(item, rates_line(measured, run.bounds));
    if (measured.launches != 0) add(item, counters_line(kernel));
    if (measured.samples != 0) add(item, waits_line(measured));
    std::size_t clean_lines = 0;
    for (const LineCost& line : kernel.lines) {
      if (line.faults.empty()) {
        ++clean_lines;
        continue;
      }
      add(item,
          fmt::format("{}  {} {} of {} B: {} by {:.1f} lanes; {} {}, at least {}",
                      place(line.source, line.offset), to_string(line.space),
                      to_string(line.operation), line.bytes_per_lane, count(line.accesses),
                      static_cast<double>(line.active_lanes) / static_cast<double>(line.accesses),
                      count(line.cost), unit_of(line.space), count(line.least)));
      constexpr std::size_t most = 3;  // a gather has hundreds of kinds
      for (std::size_t i = 0; i < std::min(most, line.faults.size()); ++i) {
        const Fault& fault = line.faults[i];
        add(under, fmt::format("{}: {}", to_string(fault.rule), fault.what));
        add(under, fmt::format("fix: {}{}", fault.fix, saving(line, fault)));
      }
      if (line.faults.size() > most)
        add(under, fmt::format("and {} more kinds of such faults", line.faults.size() - most));
    }
    if (clean_lines != 0) add(item, counted(clean_lines, "line") + " without a fault");
  }
  if (without_access != 0)
    add("\n", counted(without_access, "kernel") + " accessed no memory in the blocks recorded.");
  return page;
}

}  // namespace fathom::explain
