#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "models/global_memory.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/parse_number.h"
#include "results/standard_streams.h"
#include "tools/predict/patterns.h"
#include "tools/predict/predict_command.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

// --- a whole kernel ------------------------------------------------------------------------------

/// One direction of a whole kernel, or both of a transpose, as the command line describes it.
struct KernelFlags {
  std::string pattern;  ///< "stream", "aos" or "transpose"; empty: one warp access
  std::uint64_t elements = 0;
  int threads = 256;
  std::uint64_t struct_bytes = 0, member_offset = 0, member_bytes = 0;  ///< aos
  std::string matrix;                                                   ///< "4096x4096"
  int tile = 32;
  bool naive = false;  ///< a transpose not through shared memory
  /// Options, and the patterns that they are of.
  std::vector<std::pair<const CLI::Option*, const char*>> meant_for;
};

constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;

struct DirectionCost {
  std::string what;  ///< "loads", "stores"
  StreamCost cost;
};

/// Bytes asked for of those that the sectors hold; 0 without any.
double efficiency(const StreamCost& cost) {
  return cost.sectors == 0
             ? 0
             : static_cast<double>(cost.bytes) / static_cast<double>(cost.sectors * sector_bytes);
}

std::uint64_t needed(std::uint64_t value, const char* flag, const std::string& pattern) {
  if (value != 0) return value;
  fail(ExitCode::bad_input, "--pattern {} needs {}.", pattern, flag);
}

/// "4096x1024" into rows and columns.
void parse_matrix(const std::string& text, TransposePattern& pattern) {
  const std::size_t by = std::min(text.find('x'), text.size());
  pattern.rows = parse_number<std::uint64_t>(text.substr(0, by)).value_or(0);
  pattern.columns =
      by == text.size() ? 0 : parse_number<std::uint64_t>(text.substr(by + 1)).value_or(0);
  if (pattern.rows == 0 || pattern.columns == 0)
    fail(ExitCode::bad_input, "--matrix: `{}` is not ROWSxCOLUMNS such as 4096x1024.", text);
}

/// A flag that would change nothing is a mistake.
void refuse_idle_flags(const KernelFlags& flags, const PatternFlags& access) {
  for (const auto& [option, patterns] : flags.meant_for)
    if (option->count() > 0 &&
        std::string_view(patterns).find(flags.pattern) == std::string_view::npos)
      fail(ExitCode::bad_input, "{} is for --pattern {}, not for {}.", option->get_name(), patterns,
           flags.pattern);
  if (access.stride && (flags.pattern != "stream" || *access.stride == 0))
    throw Error(ExitCode::bad_input, "--stride is for --pattern stream, and at least 1 there.");
}

std::vector<DirectionCost> directions_of(const KernelFlags& flags, const PatternFlags& access) {
  const std::string what = access.op == "store" ? "stores" : "loads";
  const auto& pattern = flags.pattern;
  if (pattern == "stream")
    return {{what, stream_cost({.accesses = needed(flags.elements, "--elements", pattern),
                                .bytes_per_instruction = access.bytes,
                                .stride_bytes = access.stride.value_or(0),
                                .base_offset = access.base,
                                .threads_per_block = flags.threads})}};
  if (pattern == "aos")
    return {{what, struct_cost(
                       {.elements = needed(flags.elements, "--elements", pattern),
                        .struct_bytes = needed(flags.struct_bytes, "--struct-bytes", pattern),
                        .member_offset = flags.member_offset,
                        .member_bytes = needed(flags.member_bytes, "--member-bytes", pattern),
                        .bytes_per_instruction = access.given_bytes->count() > 0 ? access.bytes : 0,
                        .base_offset = access.base,
                        .threads_per_block = flags.threads})}};
  if (flags.matrix.empty()) throw Error(ExitCode::bad_input, "--pattern transpose needs --matrix.");
  TransposePattern transpose{.element_bytes = access.bytes,
                             .tile = flags.tile,
                             .through_shared = !flags.naive,
                             .load_base = access.base,
                             .store_base = access.base};
  parse_matrix(flags.matrix, transpose);
  const TransposeCost cost = transpose_cost(transpose);
  return {{"loads", cost.loads}, {"stores", cost.stores}};
}

/// Adds the flags; returns the option that asks for a whole kernel.
CLI::Option* add_kernel_flags(CLI::App& app, KernelFlags& flags) {
  CLI::Option* pattern =
      word_flag(app, "--pattern", flags.pattern,
                "A whole kernel: stream (--bytes, --stride, --base), aos (an array of structures, "
                "a thread each) or transpose (--bytes an element)",
                {"stream", "aos", "transpose"});
  const auto add = [&](const char* patterns, CLI::Option* option) {
    option->needs(pattern);
    flags.meant_for.emplace_back(option, patterns);
  };
  add("stream or aos", number_flag(app, "--elements", flags.elements,
                                   "Accesses, or structures, of the kernel", 1, most_elements));
  add("stream or aos",
      number_flag(app, "--threads", flags.threads, "Threads a block; stream and aos", 1, 1024));
  add("aos",
      number_flag(app, "--struct-bytes", flags.struct_bytes, "Size of a structure", 1, 1 << 20));
  add("aos", number_flag(app, "--member-offset", flags.member_offset,
                         "Offset of the member accessed", 0, 1 << 20));
  add("aos", number_flag(app, "--member-bytes", flags.member_bytes, "Its size", 1, 1 << 20));
  add("transpose",
      number_flag(app, "--tile", flags.tile, "Rows and columns of a transpose's tile", 1, 128));
  add("transpose", app.add_option("--matrix", flags.matrix, "Matrix to transpose, row-major")
                       ->type_name("ROWSxCOLUMNS"));
  add("transpose",
      app.add_flag("--naive", flags.naive, "Transpose without turning tiles in shared memory"));
  return pattern;
}

/// `access`: what the flags shared with a single access say.
ExitCode predict_kernel(const KernelFlags& flags, const PatternFlags& access) {
  refuse_idle_flags(flags, access);
  const auto directions = directions_of(flags, access);
  Json document{{"pattern", flags.pattern}};
  for (const auto& [what, cost] : directions) {
    if (access.json) {
      document[what] = {{"sectors", cost.sectors},
                        {"requests", cost.requests},
                        {"bytes", cost.bytes},
                        {"bytes_moved", cost.sectors * sector_bytes},
                        {"efficiency", efficiency(cost)}};
    } else {
      fmt::print("{:<7} sectors {}  requests {}  sectors a request {:.2f}\n", what, cost.sectors,
                 cost.requests,
                 static_cast<double>(cost.sectors) / static_cast<double>(cost.requests));
      fmt::print("        {} bytes asked for, {} in the sectors: {:.1f} % of what moves is used\n",
                 cost.bytes, cost.sectors * sector_bytes, 100 * efficiency(cost));
    }
  }
  return access.json ? print_json(document) : ExitCode::ok;
}

// --- one access ----------------------------------------------------------------------------------

struct GlobalFlags {
  PatternFlags access;
  KernelFlags kernel;
};

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
       {"--patterns", "--column", "--row", "--lanes", "--active", "--row-elements", "--padding",
        "--xor-swizzle", "--first"})
    kernel->excludes(app.get_option(other));
  app.footer(std::string("The picture shows which lanes touch which sectors of which lines.\n\n") +
             patterns_help +
             "Examples:\n"
             "  fathom predict global load --base 4\n"
             "  fathom predict global store --bytes 16 --stride 64 --json\n"
             "  fathom predict global --pattern aos --elements 1000000 --struct-bytes 16 "
             "--member-bytes 4\n"
             "  fathom predict global --pattern transpose --matrix 4096x4096 --naive\n"
             "  fathom predict global --patterns accesses.csv > sectors.csv\n");
}

}  // namespace

AddCommand global_prediction() { return with_arguments<GlobalFlags>(add_flags, predict); }

}  // namespace fathom
