#include "tools/predict/pattern_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <bit>
#include <nlohmann/json.hpp>
#include <vector>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/parse_number.h"
#include "tools/predict/patterns_csv.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

// With these no address of a warp is beyond 2^64.
constexpr std::uint64_t most_base = std::uint64_t{1} << 59;
constexpr std::uint64_t most_stride = std::uint64_t{1} << 57;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> fields(1);
  for (const char c : text) {
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

/// Explicit addresses, lane by lane; further lanes are inactive.
void set_lanes(WarpAccess& access, const std::string& text) {
  const auto fields = split(text);
  if (fields.size() > warp_size)
    fail(ExitCode::bad_input,
         "--lanes has {} addresses, but lane {} does not exist: a warp has lanes 0 to 31.",
         fields.size(), warp_size);
  access.active_mask = 0;
  for (std::size_t lane = 0; lane < fields.size(); ++lane) {
    if (fields[lane].empty()) continue;
    if (!parse_address(fields[lane], access.address[lane]))
      fail(ExitCode::bad_input, "--lanes: `{}` for lane {} is no byte address from 0 to 2^64 - 1.",
           fields[lane], lane);
    access.active_mask |= 1u << lane;
  }
}

int parse_lane(std::string_view text, const std::string& all) {
  const auto lane = parse_number<std::uint64_t>(text);
  if (!lane) fail(ExitCode::bad_input, "--active: `{}` is no list of lanes such as 0-15,20.", all);
  if (*lane >= warp_size)
    fail(ExitCode::bad_input, "--active: there is no lane {}: a warp has lanes 0 to 31.", text);
  return static_cast<int>(*lane);
}

std::uint32_t parse_lane_list(const std::string& text) {
  std::uint32_t mask = 0;
  for (const std::string& range : split(text)) {
    const auto dash = range.find('-');
    const int first = parse_lane(std::string_view(range).substr(0, dash), text);
    const int last = dash == std::string::npos
                         ? first
                         : parse_lane(std::string_view(range).substr(dash + 1), text);
    if (last < first) fail(ExitCode::bad_input, "--active: `{}` runs backwards.", range);
    for (int lane = first; lane <= last; ++lane) mask |= 1u << lane;
  }
  return mask;
}

}  // namespace

void add_pattern_flags(CLI::App& app, PatternFlags& flags) {
  auto* op = app.add_option("OP", flags.op, "load or store")->check(one_of({"load", "store"}));
  op->capture_default_str();
  auto* bytes = word_flag(app, "--bytes", flags.bytes, "Bytes a lane: 1, 2, 4, 8 or 16",
                          {"1", "2", "4", "8", "16"}, "N");
  flags.given_bytes = bytes;
  auto* base = number_flag(app, "--base", flags.base, "Address of lane 0, or of the tile", 0,
                           most_base, "BYTES");
  auto* stride = number_flag(app, "--stride", flags.stride,
                             "Lane i at base + i x BYTES; 0: all at the base (default: contiguous)",
                             0, most_stride, "BYTES");
  const auto tile_flag = [&app](const char* flag, auto& value, const char* description,
                                std::uint64_t lowest = 0) {
    return number_flag(app, flag, value, description, lowest, 1 << 20);
  };
  auto* column = tile_flag("--column", flags.column,
                           "Lane i at row i of this column of a tile, its elements --bytes wide");
  auto* row = tile_flag("--row", flags.row, "Lane i at column i of this row of a tile");
  auto* lanes = app.add_option("--lanes", flags.lanes,
                               "Lane by lane: 0,4,,12 (decimal or 0x...; empty: inactive)")
                    ->type_name("ADDRESSES");
  const std::vector<CLI::Option*> patterns{stride, column, row, lanes};
  for (std::size_t i = 0; i < patterns.size(); ++i)
    for (std::size_t j = i + 1; j < patterns.size(); ++j) patterns[i]->excludes(patterns[j]);
  lanes->excludes(base);

  const std::vector<CLI::Option*> tile{
      tile_flag("--row-elements", flags.row_elements, "Columns of the tile (default: 32)", 1),
      tile_flag("--padding", flags.tile.padding_elements,
                "Elements that a row of the tile is padded by"),
      tile_flag("--first", flags.first, "Row or column in the tile of lane 0"),
      app.add_flag("--xor-swizzle", flags.tile.xor_swizzle,
                   "Element (row, column) lies at column XOR row")};
  auto* active =
      app.add_option("--active", flags.active, "Active lanes: 0-15,20")->type_name("LANES");
  auto* json = app.add_flag("--json", flags.json, "Print the prediction as JSON");
  auto* file = path_flag(app, "--patterns", flags.file,
                         "Many accesses from a CSV file, or - for standard input, answered in CSV");
  for (auto* option : {op, bytes, base, active, json}) file->excludes(option);
  for (auto* option : patterns) file->excludes(option);
  for (auto* option : tile) file->excludes(option);
}

WarpAccess access_of(const PatternFlags& flags) {
  const Access op = flags.op == "store" ? Access::store : Access::load;
  Tile tile = flags.tile;
  tile.element_bytes = flags.bytes;
  tile.base = flags.base;
  tile.row_elements = flags.row_elements.value_or(tile.row_elements);
  const bool tiled = flags.column || flags.row;
  if (!tiled &&
      (flags.row_elements || tile.padding_elements != 0 || tile.xor_swizzle || flags.first))
    throw Error(ExitCode::bad_input,
                "--row-elements, --padding, --xor-swizzle and --first are of a tile: name its "
                "--column or --row too.");

  WarpAccess access{.op = op, .bytes_per_lane = flags.bytes};
  if (flags.lanes)
    set_lanes(access, *flags.lanes);
  else if (flags.column)
    access = tile_column(op, tile, *flags.column, flags.first);
  else if (flags.row)
    access = tile_row(op, tile, *flags.row, flags.first);
  else
    access = strided(op, flags.bytes,
                     flags.stride.value_or(static_cast<std::uint64_t>(flags.bytes)), flags.base);
  if (flags.active) access = masked(access, parse_lane_list(*flags.active));
  return access;
}

std::string title_of(const WarpAccess& access) {
  return fmt::format("{} of {} a lane, active lanes {}",
                     access.op == Access::load ? "Load" : "Store",
                     counted(access.bytes_per_lane, "byte"), lane_list(access.active_mask));
}

std::string lane_list(std::uint32_t lanes) {
  std::string text;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    const int last = lane + std::countr_one(lanes >> lane) - 1;
    if (!text.empty()) text += ',';
    text += last == lane ? std::to_string(lane) : fmt::format("{}-{}", lane, last);
    lane = last;
  }
  return text.empty() ? "none" : text;
}

Json to_json(const WarpAccess& access) {
  Json addresses = Json::array();
  for (int lane = 0; lane < warp_size; ++lane)
    addresses.push_back(access.active(lane) ? Json(access.address[lane]) : Json(nullptr));
  return {{"op", access.op == Access::load ? "load" : "store"},
          {"bytes", access.bytes_per_lane},
          {"active_mask", fmt::format("{:08x}", access.active_mask)},
          {"addresses", std::move(addresses)}};
}

Json lanes_to_json(std::uint32_t lanes) {
  Json list = Json::array();
  for (int lane = 0; lane < warp_size; ++lane)
    if (lanes >> lane & 1u) list.push_back(lane);
  return list;
}

}  // namespace fathom
