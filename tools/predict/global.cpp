#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "models/global_memory.h"
#include "results/format.h"
#include "results/standard_streams.h"
#include "tools/predict/global_kernel.h"
#include "tools/predict/pattern_flags.h"
#include "tools/predict/patterns_csv.h"
#include "tools/predict/predict_command.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

struct GlobalFlags {
  PatternFlags access;
  KernelFlags kernel;
};

/// What the lanes ask for: equal addresses count once.
std::uint64_t distinct_bytes(const WarpAccess& access) {
  std::vector<std::uint64_t> addresses;
  for (int lane = 0; lane < warp_size; ++lane)
    if (access.active(lane)) addresses.push_back(access.address[lane]);
  std::sort(addresses.begin(), addresses.end());
  const auto distinct = std::unique(addresses.begin(), addresses.end()) - addresses.begin();
  return static_cast<std::uint64_t>(distinct * access.bytes_per_lane);
}

/// The fewest sectors that could hold them.
int fewest_sectors(const WarpAccess& access) {
  return static_cast<int>((distinct_bytes(access) + sector_bytes - 1) / sector_bytes);
}

std::string sentence(const WarpAccess& access, const GlobalExplanation& why) {
  if (access.active_mask == 0) return "No lane is active: there is nothing to do.";
  const int fewest = fewest_sectors(access);
  const std::string what =
      fmt::format("{} in {}", counted(why.cost.sectors, "sector"), counted(why.cost.lines, "line"));
  if (why.cost.sectors == fewest)
    return fmt::format("{}, as few as the distinct bytes can lie in.", what);
  return fmt::format(
      "{}, where {} would hold the distinct bytes: {} of the {} bytes that move are wanted.", what,
      fewest, distinct_bytes(access), why.cost.sectors * sector_bytes);
}

std::string picture(const GlobalExplanation& why) {
  constexpr std::size_t sectors = line_bytes / sector_bytes;
  std::array<std::size_t, sectors> width;
  width.fill(6);
  for (const auto& line : why.lines)
    for (std::size_t i = 0; i < sectors; ++i)
      width[i] = std::max(width[i], lane_list(line.lanes[i]).size());
  const auto row = [&](const std::string& label, const auto& cell) {
    std::string text = fmt::format("{:<20}", label);
    for (std::size_t i = 0; i < sectors; ++i) text += fmt::format(" | {:<{}}", cell(i), width[i]);
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text =
      row("line at", [](std::size_t i) { return fmt::format("+{}", i * sector_bytes); });
  for (const auto& line : why.lines)
    text += row(std::to_string(line.address),
                [&](std::size_t i) { return line.lanes[i] != 0 ? lane_list(line.lanes[i]) : "."; });
  return text + "(lanes by the 32-byte sector of the 128-byte line that they touch)\n";
}

void print_text(const WarpAccess& access, const GlobalExplanation& why) {
  fmt::print("{}\n\n", title_of(access));
  if (!why.lines.empty()) fmt::print("{}\n", picture(why));
  fmt::print("sectors {}  lines {}  requests {}\n{}\n", why.cost.sectors, why.cost.lines,
             why.cost.requests, sentence(access, why));
}

Json to_json(const WarpAccess& access, const GlobalExplanation& why) {
  Json lines = Json::array();
  for (const auto& line : why.lines) {
    Json sectors = Json::array();
    for (std::size_t i = 0; i < line.lanes.size(); ++i)
      if (line.lanes[i] != 0)
        sectors.push_back({{"address", line.address + i * sector_bytes},
                           {"lanes", lanes_to_json(line.lanes[i])}});
    lines.push_back({{"address", line.address}, {"sectors", std::move(sectors)}});
  }
  return {{"access", fathom::to_json(access)},
          {"sectors", why.cost.sectors},
          {"lines", why.cost.lines},
          {"requests", why.cost.requests},
          {"fewest_sectors", fewest_sectors(access)},
          {"distinct_bytes", distinct_bytes(access)},
          {"moved_bytes", why.cost.sectors * sector_bytes},
          {"sentence", sentence(access, why)},
          {"touched", std::move(lines)}};
}

ExitCode predict(const GlobalFlags& flags) {
  const PatternFlags& access = flags.access;
  if (access.file) {
    print_out(answer_patterns(*access.file, "sectors,requests", [](const WarpAccess& warp) {
      const GlobalCost cost = global_cost(warp);
      return std::array{cost.sectors, cost.requests};
    }));
    return ExitCode::ok;
  }
  if (!flags.kernel.pattern.empty()) return predict_kernel(flags.kernel, access);
  const WarpAccess warp = access_of(access);
  const GlobalExplanation why = explain_global(warp);
  if (access.json) return print_json(to_json(warp, why));
  print_text(warp, why);
  return ExitCode::ok;
}

void add_flags(CLI::App& app, GlobalFlags& flags) {
  add_pattern_flags(app, flags.access);
  CLI::Option* kernel = add_kernel_flags(app, flags.kernel);
  for (const char* other :
       {"--patterns", "--broadcast", "--column", "--row", "--lanes", "--active", "--active-mask",
        "--row-elements", "--padding", "--xor-swizzle", "--first"})
    kernel->excludes(app.get_option(other));
  app.footer(
      std::string("The picture shows which lanes touch which sectors of which lines.\n\n") +
      patterns_help +
      "Examples:\n"
      "  fathom predict global load --base 4\n"
      "  fathom predict global store --bytes 16 --stride 64 --json\n"
      "  fathom predict global --pattern aos --elements 1000000 --struct-bytes 16 --member-bytes "
      "4\n"
      "  fathom predict global --pattern transpose --matrix 4096x4096 --naive\n"
      "  fathom predict global --patterns accesses.csv > sectors.csv\n");
}

}  // namespace

AddCommand global_prediction() { return with_arguments<GlobalFlags>(add_flags, predict); }

}  // namespace fathom
