#include "tools/predict/global_kernel.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "models/global_memory.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/parse_number.h"
#include "tools/predict/predict_command.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

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

}  // namespace

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
      number_flag(app, "--threads", flags.threads, "Threads a block; stream and aos", 1, 1024)
          ->capture_default_str());
  add("aos",
      number_flag(app, "--struct-bytes", flags.struct_bytes, "Size of a structure", 1, 1 << 20));
  add("aos", number_flag(app, "--member-offset", flags.member_offset,
                         "Offset of the member accessed", 0, 1 << 20));
  add("aos", number_flag(app, "--member-bytes", flags.member_bytes, "Its size", 1, 1 << 20));
  add("transpose",
      number_flag(app, "--tile", flags.tile, "Rows and columns of a transpose's tile", 1, 128)
          ->capture_default_str());
  add("transpose", app.add_option("--matrix", flags.matrix, "Matrix to transpose, row-major")
                       ->type_name("ROWSxCOLUMNS"));
  add("transpose",
      app.add_flag("--naive", flags.naive, "Transpose without turning tiles in shared memory"));
  return pattern;
}

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

}  // namespace fathom
