#include "explain/page.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "reports/page/explained.h"
#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/error.h"
#include "results/format.h"
#include "results/strict_json.h"

namespace fathom::explain {
namespace {

namespace fs = std::filesystem;

std::string count(std::uint64_t number) { return format_count(static_cast<double>(number)); }

const char* name_of(Op op) {
  constexpr const char* names[] = {"load",           "store",    "atomic",  "cp.async read",
                                   "cp.async write", "ldmatrix", "stmatrix"};
  return names[static_cast<int>(op)];
}
const char* name_of(Space space) { return space == Space::global ? "global" : "shared"; }
const char* unit_of(Space space) { return space == Space::global ? "sectors" : "wavefronts"; }

/// What the application would have taken without the recording, at best.
std::string slowdown(const Explanation& explanation, const RunFacts& run) {
  const double recording =
      std::accumulate(explanation.kernels.begin(), explanation.kernels.end(), 0.0,
                      [](double sum, const KernelCost& k) { return sum + k.seconds; });
  return fmt::format("{} ran {} and ended with {}; recording took {} of that.", run.command,
                     format_time(run.seconds), run.end, format_time(recording));
}

std::string sampled(const KernelCost& kernel) {
  return fmt::format("{} of {} launches, {} of their {} blocks of {} threads; {} accesses by warps",
                     count(kernel.recorded_launches), count(kernel.launches),
                     count(kernel.recorded_blocks), count(kernel.blocks),
                     count(kernel.block_threads), count(kernel.kept));
}

std::string saving(const LineCost& line, const Finding& fault) {
  if (fault.saved == 0) return "";
  const bool lanes = fault.rule == Rule::partial_warp;
  const std::uint64_t from = lanes ? line.accesses : line.cost;
  return fmt::format(": {}{}{} fewer of {} ({})", fault.rule == Rule::scatter ? "at most " : "",
                     count(fault.saved), lanes ? " accesses" : "", count(from),
                     format_percent(static_cast<double>(fault.saved) / static_cast<double>(from)));
}

nlohmann::ordered_json json_of(const LineCost& line) {
  auto faults = nlohmann::ordered_json::array();
  for (const Finding& fault : line.faults)
    faults.push_back({{"rule", to_string(fault.rule)},
                      {"what", fault.what},
                      {"fix", fault.fix},
                      {"accesses", fault.accesses},
                      {"saved", fault.saved}});
  nlohmann::ordered_json json = place_json(line.source, line.offset);
  json.update({{"space", name_of(line.space)},
               {"operation", name_of(line.op)},
               {"bytes_per_lane", line.bytes},
               {"accesses", line.accesses},
               {"active_lanes", line.lanes},
               {unit_of(line.space), line.cost},
               {fmt::format("least_{}", unit_of(line.space)), line.least},
               {"faults", std::move(faults)}});
  return json;
}

constexpr std::size_t most_bytes = 1u << 20;

bool of_toolkit(const fs::path& file) {
  std::error_code none;
  for (fs::path folder = file.parent_path(); folder != folder.root_path();
       folder = folder.parent_path())
    if (fs::exists(folder / "cuda_runtime.h", none)) return true;
  return false;
}

std::string clean_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find_first_of("\n\t");
    std::string_view part = text.substr(0, end);
    const bool last = end == text.npos;
    if (!last && text[end] == '\n' && part.ends_with('\r')) part.remove_suffix(1);
    out += clean(part);
    if (last) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string page_of(const Explanation& explanation, const RunFacts& run, Format format) {
  const bool markdown = format == Format::markdown;
  const char *const heading = markdown ? "\n### " : "\n", *const item = markdown ? "- " : "  ",
                    *const under = markdown ? "  - " : "      ";
  std::string page = slowdown(explanation, run) + "\n";
  for (const std::string& note : explanation.notes) page += note + "\n";
  if (!run.bounds.source.empty())
    page += fmt::format("What this GPU can move is as measured in {}.\n", run.bounds.source);
  std::size_t without_access = 0;
  for (const KernelCost& kernel : explanation.kernels) {
    if (kernel.lines.empty()) {
      ++without_access;
      continue;
    }
    page += fmt::format("{}{}\n{}{}\n", heading, short_name(kernel.name), markdown ? "\n" : "  ",
                        sampled(kernel));
    if (markdown) page += "\n";
    for (const std::string& line : measured_lines(kernel, run.bounds))
      page += fmt::format("{}{}\n", item, line);
    std::size_t clean_lines = 0;
    for (const LineCost& line : kernel.lines) {
      if (line.faults.empty()) {
        ++clean_lines;
        continue;
      }
      page += fmt::format("{}{}  {} {} of {} B: {} by {:.1f} lanes; {} {}, at least {}\n", item,
                          place(line.source, line.offset), name_of(line.space), name_of(line.op),
                          line.bytes, count(line.accesses),
                          static_cast<double>(line.lanes) / static_cast<double>(line.accesses),
                          count(line.cost), unit_of(line.space), count(line.least));
      constexpr std::size_t most = 3;  // a gather has hundreds of kinds
      for (std::size_t i = 0; i < std::min(most, line.faults.size()); ++i) {
        const Finding& fault = line.faults[i];
        page += fmt::format("{}{}: {}\n{}fix: {}{}\n", under, to_string(fault.rule), fault.what,
                            under, fault.fix, saving(line, fault));
      }
      if (line.faults.size() > most)
        page +=
            fmt::format("{}and {} more kinds of such faults\n", under, line.faults.size() - most);
    }
    if (clean_lines != 0)
      page += fmt::format("{}{} without a fault\n", item, counted(clean_lines, "line"));
  }
  if (without_access != 0)
    page += fmt::format("\n{} accessed no memory in the blocks recorded.\n",
                        counted(without_access, "kernel"));
  return page;
}

std::string json_of(const Explanation& explanation, const RunFacts& run) {
  auto kernels = nlohmann::ordered_json::array();
  for (const KernelCost& kernel : explanation.kernels) {
    auto lines = nlohmann::ordered_json::array();
    for (const LineCost& line : kernel.lines) lines.push_back(json_of(line));
    kernels.push_back({{"name", clean(kernel.name)},
                       {"function", clean(kernel.function)},
                       {"launches", kernel.launches},
                       {"recorded_launches", kernel.recorded_launches},
                       {"blocks", kernel.blocks},
                       {"recorded_blocks", kernel.recorded_blocks},
                       {"threads_per_block", kernel.block_threads},
                       {"accesses", kernel.accesses},
                       {"kept_accesses", kernel.kept},
                       {"recording_s", kernel.seconds},
                       {"lines", std::move(lines)},
                       {"measured", measured_json(kernel, run.bounds)}});
  }
  auto sources = nlohmann::ordered_json::array();
  for (const auto& [file, text] : sources_of(explanation))
    sources.push_back({{"file", clean(file)}, {"text", text}});
  const nlohmann::ordered_json document{{"format", reports::explained_format},
                                        {"command", clean(run.command)},
                                        {"seconds", run.seconds},
                                        {"end", run.end},
                                        {"notes", explanation.notes},
                                        {"kernels", std::move(kernels)},
                                        {"sources", std::move(sources)}};
  return document.dump(2) + "\n";
}

std::map<std::string, std::string> sources_of(const Explanation& explanation) {
  std::map<std::string, bool> wanted;  // and whether a line with a fault names it
  for (const KernelCost& kernel : explanation.kernels) {
    for (const LineCost& line : kernel.lines)
      if (line.source) wanted[line.source->file] |= !line.faults.empty();
    for (const Waiting& waiting : kernel.measured.waits)
      if (waiting.source) wanted.try_emplace(waiting.source->file);
  }
  std::map<std::string, std::string> sources;
  for (const auto& [file, faulty] : wanted) {
    std::error_code none;
    // A device or a pipe would be waited for.
    if (!fs::is_regular_file(file, none) || (!faulty && of_toolkit(file))) continue;
    try {
      const std::string text = read_file_up_to(file, most_bytes);
      sources[file] = clean_lines(without_byte_order_mark(text));
    } catch (const Error&) {
      // Too large, or not to be read by this user: the answer does without.
    }
  }
  return sources;
}

}  // namespace fathom::explain
