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

namespace fathom::explain {
namespace {

namespace fs = std::filesystem;

std::string count(std::uint64_t number) { return format_count(static_cast<double>(number)); }

std::string place_text(const CodePlace& place) {
  return place.file ? place_of(SourceLine{*place.file, *place.line})
                    : fmt::format("+0x{:04x}", place.offset);
}

double counted_of(const Counts& counts, const std::string& role) {
  const auto found = counts.find(role);
  return found == counts.end() ? 0 : found->second;
}

std::string rates_line(const Measured& measured) {
  std::vector<std::string> parts;
  for (const auto& [level, moved, bound] : measured.bandwidths) {
    if (moved == 0) continue;
    parts.push_back(fmt::format("{} {}", level, format_bandwidth(moved)));
    if (bound)
      parts.back() +=
          fmt::format(" of {} ({})", format_bandwidth(*bound), format_percent(moved / *bound));
  }
  return fmt::format("{} a launch while counted: {}",
                     format_time(measured.seconds / static_cast<double>(measured.launches)),
                     fmt::join(parts, ", "));
}

/// "12,288 sectors of global loads", ...; "98,304 wavefronts of shared loads (95,232 conflicts)".
std::string counters_line(const KernelCost& kernel, const Measured& measured) {
  const auto& counts = measured.counters;
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
                     measured.launches == kernel.recorded_launches;
  if (!whole) return line + "; the recording is of a part (all of it: --blocks 0)";
  std::vector<std::string> others;
  for (const auto& [role, counted] : counts) {
    const bool both = role.starts_with("global_") || role.starts_with("shared_");
    if (both && counted_of(measured.recorded, role) != counted)
      others.push_back(
          fmt::format("{} {}", format_count(counted_of(measured.recorded, role)), role));
  }
  return line + (others.empty() ? "; the recording says the same"
                                : fmt::format("; recorded: {}", fmt::join(others, ", ")));
}

std::string waits_line(const Measured& measured) {
  constexpr std::size_t most = 3;
  std::vector<std::string> parts;
  for (const Waiting& waiting : measured.waits) {
    if (parts.size() == most) break;
    const auto main = std::ranges::max_element(waiting.reasons, {},
                                               [](const auto& reason) { return reason.second; });
    parts.push_back(fmt::format("{} at {} ({})", format_percent(waiting.share), place_text(waiting),
                                main->first));
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

std::string json_of(Explanation answer) {
  std::set<std::string> files;
  const auto named = [&](CodePlace& place) {
    if (!place.file) return;
    files.insert(*place.file);
    place.file = clean(*place.file);
  };
  for (KernelCost& kernel : answer.kernels) {
    std::ranges::for_each(kernel.lines, named);
    if (kernel.measured) std::ranges::for_each(kernel.measured->waits, named);
  }
  for (const std::string& file : files)
    if (const auto text = text_of(file)) answer.sources.push_back({clean(file), *text});
  answer.command = clean(answer.command);
  return write_fields(answer).dump(2) + "\n";
}

}  // namespace

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

std::string page_of(const Explanation& explanation, const std::string& bounds,
                    const std::string& format) {
  if (format == "json") return json_of(explanation);
  const bool markdown = format == "md";
  const char *const heading = markdown ? "\n### " : "\n", *const item = markdown ? "- " : "  ",
                    *const under = markdown ? "  - " : "      ";
  double recording = 0;
  for (const KernelCost& kernel : explanation.kernels) recording += kernel.recording_s;
  std::string page =
      fmt::format("{} ran {} and ended with {}; recording took {} of that.\n", explanation.command,
                  format_time(explanation.seconds), explanation.end, format_time(recording));
  const auto add = [&](const char* mark, const std::string& text) { page += mark + text + "\n"; };
  for (const std::string& note : explanation.notes) add("", note);
  if (!bounds.empty()) add("", fmt::format("What this GPU can move is as measured in {}.", bounds));
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
    const Measured measured = kernel.measured.value_or(Measured{});
    if (measured.seconds > 0) add(item, rates_line(measured));
    if (measured.launches != 0) add(item, counters_line(kernel, measured));
    if (measured.samples != 0) add(item, waits_line(measured));
    std::size_t clean_lines = 0;
    for (const LineCost& line : kernel.lines) {
      if (line.faults.empty()) {
        ++clean_lines;
        continue;
      }
      add(item,
          fmt::format("{}  {} {} of {} B: {} by {:.1f} lanes; {} {}, at least {}", place_text(line),
                      to_string(line.space), to_string(line.operation), line.bytes_per_lane,
                      count(line.accesses),
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
