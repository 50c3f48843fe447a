// `fathom predict global`.

#include "models/global_memory.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

struct GlobalFlags {
  PatternFlags access;
  std::string pattern;  ///< "stream", "aos" or "transpose"; empty: one warp access
  StructPattern aos{.struct_bytes = 0, .member_bytes = 0};  ///< elements and threads: stream, too
  TransposePattern transpose;
  std::string matrix;             ///< "4096x4096"
  bool naive = false;             ///< a transpose not through shared memory
  const CLI::App* app = nullptr;  ///< that knows which flags were given
};

// --- a whole kernel ------------------------------------------------------------------------------

/// A flag of a whole kernel, the patterns that it is of, and whether these need it.
struct KernelFlag {
  const char* name;
  std::string_view patterns;
  bool needed;
};
constexpr KernelFlag kernel_flags[] = {
    {"--elements", "stream or aos", true}, {"--threads", "stream or aos", false},
    {"--struct-bytes", "aos", true},       {"--member-offset", "aos", false},
    {"--member-bytes", "aos", true},       {"--tile", "transpose", false},
    {"--matrix", "transpose", true},       {"--naive", "transpose", false}};

/// Adds the flags; returns the option that asks for a whole kernel.
CLI::Option* add_kernel_flags(CLI::App& app, GlobalFlags& flags) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 40, most_bytes = 1 << 20;
  flags.app = &app;
  CLI::Option* pattern =
      word_flag(app, "--pattern", flags.pattern,
                "A whole kernel: stream (--bytes, --stride, --base), aos (an array of structures, "
                "a thread each) or transpose (--bytes an element)",
                {"stream", "aos", "transpose"});
  StructPattern& aos = flags.aos;
  number_flag(app, "--elements", aos.elements, "Accesses, or structures, of the kernel", 1,
              most_elements);
  number_flag(app, "--threads", aos.threads_per_block, "Threads a block; stream and aos", 1, 1024);
  number_flag(app, "--struct-bytes", aos.struct_bytes, "Size of a structure", 1, most_bytes);
  number_flag(app, "--member-offset", aos.member_offset, "Offset of the member accessed", 0,
              most_bytes);
  number_flag(app, "--member-bytes", aos.member_bytes, "Its size", 1, most_bytes);
  number_flag(app, "--tile", flags.transpose.tile, "Rows and columns of a transpose's tile", 1,
              128);
  app.add_option("--matrix", flags.matrix, "Matrix to transpose, row-major")
      ->type_name("ROWSxCOLUMNS");
  app.add_flag("--naive", flags.naive, "Transpose without turning tiles in shared memory");
  for (const KernelFlag& flag : kernel_flags) app.get_option(flag.name)->needs(pattern);
  return pattern;
}

/// A flag that would change nothing is a mistake, and so is one that is missing.
void check_kernel_flags(const GlobalFlags& flags) {
  for (const auto& [name, patterns, needed] : kernel_flags) {
    const bool given = flags.app->count(name) > 0;
    const bool meant = patterns.find(flags.pattern) != patterns.npos;
    if (given && !meant)
      fail(ExitCode::bad_input, "{} is for --pattern {}, not for {}.", name, patterns,
           flags.pattern);
    if (needed && meant && !given)
      fail(ExitCode::bad_input, "--pattern {} needs {}.", flags.pattern, name);
  }
  if (flags.access.stride && (flags.pattern != "stream" || *flags.access.stride == 0))
    throw Error(ExitCode::bad_input, "--stride is for --pattern stream, and at least 1 there.");
}

/// "4096x1024" into rows and columns.
void parse_matrix(const std::string& text, TransposePattern& pattern) {
  const std::size_t by = std::min(text.find('x'), text.size());
  pattern.rows = parse_number<std::uint64_t>(text.substr(0, by)).value_or(0);
  pattern.columns =
      parse_number<std::uint64_t>(text.substr(std::min(by + 1, text.size()))).value_or(0);
  if (pattern.rows == 0 || pattern.columns == 0)
    fail(ExitCode::bad_input, "--matrix: `{}` is not ROWSxCOLUMNS such as 4096x1024.", text);
}

/// What loads, stores or both of the kernel cost.
std::vector<std::pair<std::string, StreamCost>> kernel_costs(GlobalFlags& flags) {
  const Tile& access = flags.access.tile;
  const std::string what = flags.access.op + "s";
  if (flags.pattern == "stream")
    return {{what, stream_cost({.accesses = flags.aos.elements,
                                .bytes_per_instruction = access.element_bytes,
                                .stride_bytes = flags.access.stride.value_or(0),
                                .base_offset = access.base,
                                .threads_per_block = flags.aos.threads_per_block})}};
  if (flags.pattern == "aos") {
    flags.aos.bytes_per_instruction = flags.app->count("--bytes") > 0 ? access.element_bytes : 0;
    flags.aos.base_offset = access.base;
    return {{what, struct_cost(flags.aos)}};
  }
  TransposePattern& transpose = flags.transpose;
  parse_matrix(flags.matrix, transpose);
  transpose.element_bytes = access.element_bytes;
  transpose.through_shared = !flags.naive;
  transpose.load_base = transpose.store_base = access.base;
  const TransposeCost cost = transpose_cost(transpose);
  return {{"loads", cost.loads}, {"stores", cost.stores}};
}

Prediction predict_kernel(GlobalFlags& flags) {
  check_kernel_flags(flags);
  Prediction said;
  said.json["pattern"] = flags.pattern;
  for (const auto& [what, cost] : kernel_costs(flags)) {
    const std::uint64_t moved = cost.sectors * sector_bytes;
    const double used =
        moved == 0 ? 0 : static_cast<double>(cost.bytes) / static_cast<double>(moved);
    said.json[what] = {{"sectors", cost.sectors},
                       {"requests", cost.requests},
                       {"bytes", cost.bytes},
                       {"bytes_moved", moved},
                       {"efficiency", used}};
    said.say("{:<7} sectors {}  requests {}  sectors a request {:.2f}\n", what, cost.sectors,
             cost.requests, static_cast<double>(cost.sectors) / static_cast<double>(cost.requests));
    said.say("        {} bytes asked for, {} in the sectors: {:.1f} % of what moves is used\n",
             cost.bytes, moved, 100 * used);
  }
  return said;
}

// --- one access ----------------------------------------------------------------------------------

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

Json touched(const GlobalExplanation& why) {
  Json lines = Json::array();
  for (const auto& line : why.lines) {
    Json sectors = Json::array();
    for (std::size_t i = 0; i < line.lanes.size(); ++i)
      if (line.lanes[i] != 0)
        sectors.push_back({{"address", line.address + i * sector_bytes},
                           {"lanes", lanes_to_json(line.lanes[i])}});
    lines.push_back({{"address", line.address}, {"sectors", std::move(sectors)}});
  }
  return lines;
}

Prediction predict_access(const PatternFlags& flags) {
  const WarpAccess access = access_of(flags);
  const GlobalExplanation why = explain_global(access);
  const auto [sectors, lines, requests] = why.cost;
  const int distinct = distinct_bytes(access);
  const auto fewest = static_cast<int>((distinct + sector_bytes - 1) / sector_bytes);
  const std::uint64_t moved = sectors * sector_bytes;
  std::string sentence = "No lane is active: there is nothing to do.";
  if (access.active_mask != 0) {
    sentence = fmt::format("{} in {}, ", counted(sectors, "sector"), counted(lines, "line"));
    if (sectors == fewest)
      sentence += "as few as the distinct bytes can lie in.";
    else
      sentence += fmt::format(
          "where {} would hold the distinct bytes: {} of the {} bytes that move are wanted.",
          fewest, distinct, moved);
  }
  Prediction said = prediction_of(access);
  if (!why.lines.empty()) said.say("{}\n", picture(why));
  said.say("sectors {}  lines {}  requests {}\n{}\n", sectors, lines, requests, sentence);
  said.json.update({{"sectors", sectors},
                    {"lines", lines},
                    {"requests", requests},
                    {"fewest_sectors", fewest},
                    {"distinct_bytes", distinct},
                    {"moved_bytes", moved},
                    {"sentence", sentence},
                    {"touched", touched(why)}});
  return said;
}

Prediction predict(GlobalFlags flags) {
  if (flags.access.file)
    return {answer_patterns(*flags.access.file, "sectors,requests", [](const WarpAccess& warp) {
      const GlobalCost cost = global_cost(warp);
      return std::array{cost.sectors, cost.requests};
    })};
  return flags.pattern.empty() ? predict_access(flags.access) : predict_kernel(flags);
}

void add_flags(CLI::App& app, GlobalFlags& flags) {
  add_pattern_flags(app, flags.access, "which lanes touch which sectors of which lines",
                    "  fathom predict global load --base 4\n"
                    "  fathom predict global store --bytes 16 --stride 64 --json\n"
                    "  fathom predict global --pattern aos --elements 1000000 --struct-bytes 16 "
                    "--member-bytes 4\n"
                    "  fathom predict global --pattern transpose --matrix 4096x4096 --naive\n"
                    "  fathom predict global --patterns accesses.csv > sectors.csv\n");
  CLI::Option* kernel = add_kernel_flags(app, flags);
  for (const char* other : {"--patterns", "--column", "--row", "--lanes", "--row-elements",
                            "--padding", "--xor-swizzle", "--first"})
    kernel->excludes(app.get_option(other));
}

}  // namespace

Command global_prediction() {
  return prediction<GlobalFlags>(
      "global", "Sectors and requests of a warp's access or of a whole kernel", add_flags, predict);
}

}  // namespace fathom
