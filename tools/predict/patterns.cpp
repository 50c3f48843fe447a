#include "tools/predict/patterns.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/text.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

// With these no address of a warp is beyond 2^64.
constexpr std::uint64_t most_base = std::uint64_t{1} << 59;
constexpr std::uint64_t most_stride = std::uint64_t{1} << 57;

std::vector<std::string_view> fields_of(std::string_view list) {
  std::vector<std::string_view> fields;
  for (std::size_t end; (end = list.find(',')) != list.npos; list.remove_prefix(end + 1))
    fields.push_back(list.substr(0, end));
  fields.push_back(list);
  return fields;
}

/// The whole text as a number from 0 to 2^64 - 1, decimal or from 0x on hexadecimal.
std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X"))
    return parse_number<std::uint64_t>(text.substr(2), 16);
  return parse_number<std::uint64_t>(text);
}

/// A mistake in a row of a file.
struct BadField {
  std::string column;  ///< empty: none of them
  std::string what;
};

/// A field for each lane, empty where it is inactive, as further lanes are. Throws LaneError for
/// one that is no address.
void set_lanes(WarpAccess& access, std::span<const std::string_view> fields) {
  access.active_mask = 0;
  for (std::size_t lane = 0; lane < fields.size(); ++lane) {
    if (fields[lane].empty()) continue;
    const auto address = parse_address(fields[lane]);
    if (!address)
      throw LaneError(
          static_cast<int>(lane),
          fmt::format("`{}` is no byte address from 0 to 2^64 - 1", quotable(fields[lane], 40)));
    access.address[lane] = *address;
    access.active_mask |= 1u << lane;
  }
}

/// Throws BadField or LaneError.
WarpAccess access_of_row(std::string_view row) {
  constexpr std::size_t columns = 2 + warp_size;
  const std::vector<std::string_view> fields = fields_of(row);
  if (fields.size() != columns)
    throw BadField{"", fmt::format("{}, not {} (op, bytes and {} lanes)",
                                   counted(fields.size(), "column"), columns, warp_size)};
  if (fields[0] != "load" && fields[0] != "store")
    throw BadField{"op", fmt::format("`{}` is neither load nor store", quotable(fields[0], 40))};
  const auto bytes = parse_number<int>(fields[1]);
  if (!bytes || *bytes < 1 || *bytes > 16 || !std::has_single_bit(static_cast<unsigned>(*bytes)))
    throw BadField{"bytes", fmt::format("`{}` is no width, which is 1, 2, 4, 8 or 16 bytes",
                                        quotable(fields[1], 40))};
  WarpAccess access{.op = fields[0] == "load" ? Access::load : Access::store,
                    .bytes_per_lane = *bytes};
  set_lanes(access, std::span(fields).subspan(2));
  return access;
}

}  // namespace

void add_pattern_flags(CLI::App& app, PatternFlags& flags) {
  app.add_option("OP", flags.op, "load or store")
      ->check(one_of({"load", "store"}))
      ->capture_default_str();
  word_flag(app, "--bytes", flags.bytes, "Bytes a lane: 1, 2, 4, 8 or 16",
            {"1", "2", "4", "8", "16"}, "N");
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

  tile_flag("--row-elements", flags.row_elements, "Columns of the tile (default: 32)", 1);
  tile_flag("--padding", flags.tile.padding_elements,
            "Elements that a row of the tile is padded by");
  tile_flag("--first", flags.first, "Row or column in the tile of lane 0");
  app.add_flag("--xor-swizzle", flags.tile.xor_swizzle,
               "Element (row, column) lies at column XOR row");
  const std::vector<CLI::Option*> one_access =
      app.get_options([&app](auto* option) { return option != app.get_help_ptr(); });
  auto* file =
      path_flag(app, "--patterns", flags.file, "Many accesses from a CSV file, answered in CSV");
  for (auto* option : one_access) file->excludes(option);
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

  if (flags.column) return tile_column(op, tile, *flags.column, flags.first);
  if (flags.row) return tile_row(op, tile, *flags.row, flags.first);
  if (!flags.lanes)
    return strided(op, flags.bytes, flags.stride.value_or(static_cast<std::uint64_t>(flags.bytes)),
                   flags.base);
  WarpAccess access{.op = op, .bytes_per_lane = flags.bytes};
  const std::vector<std::string_view> fields = fields_of(*flags.lanes);
  if (fields.size() > warp_size)
    fail(ExitCode::bad_input,
         "--lanes has {} addresses, but lane {} does not exist: a warp has lanes 0 to 31.",
         fields.size(), warp_size);
  try {
    set_lanes(access, fields);
  } catch (const LaneError& error) {
    fail(ExitCode::bad_input, "--lanes, lane {}: {}.", error.lane(), error.reason());
  }
  return access;
}

std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer) {
  std::ifstream input(file, std::ios::binary);
  std::string line;
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t row = 0, lines = 0;
  const auto next = [&] {
    input.getline(buffer.data(), std::ssize(buffer));
    ++lines;
    if (input.gcount() + 1 == std::ssize(buffer) && !input.eof())
      fail(ExitCode::bad_input, "{}: line {} goes on for over 1 MiB: it is no CSV of patterns.",
           file, lines);
    const bool there = !input.fail();
    line = buffer.data();
    if (line.ends_with('\r')) line.pop_back();
    return there;
  };
  std::string columns = "op,bytes";
  for (int lane = 0; lane < warp_size; ++lane) columns += fmt::format(",lane{}", lane);
  const bool any = next();
  if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // as spreadsheets mark UTF-8
  const bool readable = input.eof() || any;
  if (readable && line != columns)
    fail(ExitCode::bad_input, "{}: the first line must be op,bytes,lane0,...,lane31.", file);
  std::string text = fmt::format("{}\n", header);
  const auto refuse = [&](const std::string& column, const std::string& what) {
    fail(ExitCode::bad_input, "{}: row {} (line {}){}: {}.", file, row, row + 1,
         column.empty() ? "" : ", column " + column, what);
  };
  try {
    while (next()) {
      ++row;
      const auto numbers = answer(access_of_row(line));
      fmt::format_to(std::back_inserter(text), "{},{}\n", numbers[0], numbers[1]);
    }
  } catch (const BadField& bad) {
    refuse(bad.column, bad.what);
  } catch (const LaneError& error) {
    refuse(fmt::format("lane{}", error.lane()), error.reason());
  }
  if (!input.eof()) fail(ExitCode::bad_input, "{} cannot be read: {}.", file, std::strerror(errno));
  return text;
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

Prediction prediction_of(const WarpAccess& access) {
  const bool loads = access.op == Access::load;
  Json addresses = Json::array();
  for (int lane = 0; lane < warp_size; ++lane)
    addresses.push_back(access.active(lane) ? Json(access.address[lane]) : Json(nullptr));
  return {fmt::format("{} of {} a lane, active lanes {}\n\n", loads ? "Load" : "Store",
                      counted(access.bytes_per_lane, "byte"), lane_list(access.active_mask)),
          {{"access",
            {{"op", loads ? "load" : "store"},
             {"bytes", access.bytes_per_lane},
             {"active_mask", fmt::format("{:08x}", access.active_mask)},
             {"addresses", std::move(addresses)}}}}};
}

Json lanes_to_json(std::uint32_t lanes) {
  Json list = Json::array();
  for (int lane = 0; lane < warp_size; ++lane)
    if (lanes >> lane & 1u) list.push_back(lane);
  return list;
}

}  // namespace fathom
