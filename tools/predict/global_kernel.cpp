#include "tools/predict/global_kernel.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "models/global_memory.h"
#include "results/error.h"
#include "results/flag_checks.h"

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
  throw Error(ExitCode::bad_input, fmt::format("--pattern {} needs {}.", pattern, flag));
}

/// "4096x1024" into rows and columns.
void parse_matrix(const std::string& text, TransposePattern& pattern) {
  const auto number = [](std::string_view digits, std::uint64_t& value) {
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stop == end && value != 0;
  };
  const auto by = text.find('x');
  if (by == std::string::npos || !number(std::string_view(text).substr(0, by), pattern.rows) ||
      !number(std::string_view(text).substr(by + 1), pattern.columns))
    throw Error(ExitCode::bad_input,
                fmt::format("--matrix: `{}` is not ROWSxCOLUMNS such as 4096x1024.", text));
}

/// A flag that would change nothing is a mistake.
void refuse_idle_flags(const KernelFlags& flags, const KernelAccess& access) {
  for (const auto& [option, patterns] : flags.meant_for)
    if (option->count() > 0 && patterns.find(flags.pattern) == std::string::npos)
      throw Error(ExitCode::bad_input, fmt::format("{} is for --pattern {}, not for {}.",
                                                   option->get_name(), patterns, flags.pattern));
  if (access.stride && (flags.pattern != "stream" || *access.stride == 0))
    throw Error(ExitCode::bad_input, "--stride is for --pattern stream, and at least 1 there.");
}

std::vector<DirectionCost> directions_of(const KernelFlags& flags, const KernelAccess& access) {
  const std::string what = access.store ? "stores" : "loads";
  if (flags.pattern == "stream")
    return {{what, stream_cost({.accesses = needed(flags.elements, "--elements", flags.pattern),
                                .bytes_per_instruction = static_cast<int>(access.bytes),
                                .stride_bytes = access.stride.value_or(0),
                                .base_offset = access.base,
                                .threads_per_block = flags.threads})}};
  if (flags.pattern == "aos")
    return {{what,
             struct_cost(
                 {.elements = needed(flags.elements, "--elements", flags.pattern),
                  .struct_bytes = needed(flags.struct_bytes, "--struct-bytes", flags.pattern),
                  .member_offset = flags.member_offset,
                  .member_bytes = needed(flags.member_bytes, "--member-bytes", flags.pattern),
                  .bytes_per_instruction = access.bytes_given ? static_cast<int>(access.bytes) : 0,
                  .base_offset = access.base,
                  .threads_per_block = flags.threads})}};
  if (flags.matrix.empty()) throw Error(ExitCode::bad_input, "--pattern transpose needs --matrix.");
  TransposePattern pattern{.element_bytes = static_cast<int>(access.bytes),
                           .tile = flags.tile,
                           .through_shared = !flags.naive,
                           .load_base = access.base,
                           .store_base = access.base};
  parse_matrix(flags.matrix, pattern);
  const TransposeCost cost = transpose_cost(pattern);
  return {{"loads", cost.loads}, {"stores", cost.stores}};
}

}  // namespace

CLI::Option* add_kernel_flags(CLI::App& app, KernelFlags& flags) {
  CLI::Option* pattern =
      app.add_option("--pattern", flags.pattern,
                     "A whole kernel: stream (--bytes, --stride, --base), aos (an array of "
                     "structures, a thread each) or transpose (--bytes an element)")
          ->check(one_of({"stream", "aos", "transpose"}))
          ->type_name("NAME");
  std::vector<CLI::Option*> options{
      app.add_option("--elements", flags.elements, "Accesses, or structures, of the kernel")
          ->check(whole_number(1, most_elements)),
      app.add_option("--threads", flags.threads, "Threads a block; stream and aos")
          ->check(whole_number(1, 1024))
          ->capture_default_str(),
      app.add_option("--struct-bytes", flags.struct_bytes, "Size of a structure")
          ->check(whole_number(1, 1 << 20)),
      app.add_option("--member-offset", flags.member_offset, "Offset of the member accessed")
          ->check(whole_number(0, 1 << 20)),
      app.add_option("--member-bytes", flags.member_bytes, "Its size")
          ->check(whole_number(1, 1 << 20)),
      app.add_option("--tile", flags.tile, "Rows and columns of a transpose's tile")
          ->check(whole_number(1, 128))
          ->capture_default_str()};
  for (auto* option : options) option->type_name("N");
  options.push_back(app.add_option("--matrix", flags.matrix, "Matrix to transpose, row-major")
                        ->type_name("ROWSxCOLUMNS"));
  options.push_back(
      app.add_flag("--naive", flags.naive, "Transpose without turning tiles in shared memory"));
  for (auto* option : options) option->needs(pattern);
  flags.meant_for = {{options[0], "stream or aos"}, {options[1], "stream or aos"},
                     {options[2], "aos"},           {options[3], "aos"},
                     {options[4], "aos"},           {options[5], "transpose"},
                     {options[6], "transpose"},     {options[7], "transpose"}};
  return pattern;
}

ExitCode predict_kernel(const KernelFlags& flags, const KernelAccess& access, bool json) {
  refuse_idle_flags(flags, access);
  const auto directions = directions_of(flags, access);
  Json document{{"pattern", flags.pattern}};
  for (const auto& [what, cost] : directions) {
    if (json) {
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
  if (json) fmt::print("{}\n", document.dump(2));
  return ExitCode::ok;
}

}  // namespace fathom
