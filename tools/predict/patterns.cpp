#include "tools/predict/patterns.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "results/clean_text.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/parse_number.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

// With these no address of a warp is beyond 2^64.
constexpr std::uint64_t most_base = std::uint64_t{1} << 59;
constexpr std::uint64_t most_stride = std::uint64_t{1} << 57;

std::size_t count_fields(std::string_view list) {
  return static_cast<std::size_t>(std::ranges::count(list, ',')) + 1;
}

/// Takes the first field off a list; nothing is left behind the last one.
std::string_view take_field(std::string_view& list) {
  const std::size_t end = std::min(list.find(','), list.size());
  const std::string_view field = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return field;
}

/// The whole text as a number from 0 to 2^64 - 1, decimal or from 0x on hexadecimal.
std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X"))
    return parse_number<std::uint64_t>(text.substr(2), 16);
  return parse_number<std::uint64_t>(text);
}

/// A field for each lane, empty where it is inactive, as further lanes are. `refuse` gets the first
/// that is no address, and its lane.
template <class Refuse>
void set_lanes(WarpAccess& access, std::string_view list, const Refuse& refuse) {
  access.active_mask = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    const std::string_view field = take_field(list);
    if (field.empty()) continue;
    const auto address = parse_address(field);
    if (!address) refuse(field, lane);
    access.address[lane] = *address;
    access.active_mask |= 1u << lane;
  }
}

/// The lines of a CSV file of accesses, one after the other.
class Lines {
 public:
  explicit Lines(const std::string& file) : name_(file == "-" ? "standard input" : file) {
    if (file == "-") {
      std::ios::sync_with_stdio(false);  // else it is read byte by byte
      input_.rdbuf(std::cin.rdbuf());
    } else if (!own_.open(file, std::ios::in | std::ios::binary)) {
      input_.setstate(std::ios::badbit);
    }
  }

  bool next(std::string_view& line) {
    if (!input_.bad()) input_.getline(buffer_.data(), std::ssize(buffer_));
    if (input_.bad())
      fail(ExitCode::bad_input, "{} cannot be read: {}.", name_, std::strerror(errno));
    if (input_.eof() && input_.fail()) return false;
    ++number_;
    if (input_.fail())
      fail(ExitCode::bad_input, "{}: line {} goes on for over 1 MiB: it is no CSV of patterns.",
           name_, number_);
    line = std::string_view(buffer_.data(), static_cast<std::size_t>(input_.gcount()));
    if (!input_.eof()) line.remove_suffix(1);  // its end, which was taken off as well
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }

  /// What is wrong with the last line; no column: with the row as a whole.
  [[noreturn]] void refuse(const std::string& column, const std::string& what) const {
    if (number_ <= 1) fail(ExitCode::bad_input, "{}: the first line must be {}.", name_, what);
    fail(ExitCode::bad_input, "{}: row {} (line {}){}: {}.", name_, number_ - 1, number_,
         column.empty() ? "" : ", column " + column, what);
  }

 private:
  const std::string name_;
  std::vector<char> buffer_ = std::vector<char>((std::size_t{1} << 20) + 2);
  std::filebuf own_;
  std::istream input_{&own_};
  std::uint64_t number_ = 0;  ///< of the last line, from 1
};

/// A field as an error may show it.
std::string shown(std::string_view field) { return "`" + quotable(field, 40) + "`"; }

WarpAccess access_of(std::string_view row, const Lines& lines) {
  constexpr std::size_t columns = 2 + warp_size;
  if (const std::size_t count = count_fields(row); count != columns)
    lines.refuse("", fmt::format("{}, not {} (op, bytes and {} lanes)", counted(count, "column"),
                                 columns, warp_size));
  const std::string_view op = take_field(row), bytes = take_field(row);
  if (op != "load" && op != "store")
    lines.refuse("op", fmt::format("{} is neither load nor store", shown(op)));
  constexpr std::array<std::string_view, 5> widths{"1", "2", "4", "8", "16"};
  const auto width = std::ranges::find(widths, bytes) - widths.begin();
  if (width == std::ssize(widths))
    lines.refuse("bytes",
                 fmt::format("{} is no width, which is 1, 2, 4, 8 or 16 bytes", shown(bytes)));
  WarpAccess access{.op = op == "load" ? Access::load : Access::store,
                    .bytes_per_lane = 1 << width};
  set_lanes(access, row, [&](std::string_view field, int lane) {
    lines.refuse(fmt::format("lane{}", lane),
                 fmt::format("{} is no byte address from 0 to 2^64 - 1", shown(field)));
  });
  return access;
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

  std::vector<CLI::Option*> one_access{
      tile_flag("--row-elements", flags.row_elements, "Columns of the tile (default: 32)", 1),
      tile_flag("--padding", flags.tile.padding_elements,
                "Elements that a row of the tile is padded by"),
      tile_flag("--first", flags.first, "Row or column in the tile of lane 0"),
      app.add_flag("--xor-swizzle", flags.tile.xor_swizzle,
                   "Element (row, column) lies at column XOR row"),
      app.add_flag("--json", flags.json, "Print the prediction as JSON")};
  auto* file = path_flag(app, "--patterns", flags.file,
                         "Many accesses from a CSV file, or - for standard input, answered in CSV");
  for (auto* option : {op, bytes, base}) file->excludes(option);
  for (auto* option : patterns) file->excludes(option);
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

  WarpAccess access{.op = op, .bytes_per_lane = flags.bytes};
  if (flags.lanes) {
    if (const std::size_t count = count_fields(*flags.lanes); count > warp_size)
      fail(ExitCode::bad_input,
           "--lanes has {} addresses, but lane {} does not exist: a warp has lanes 0 to 31.", count,
           warp_size);
    set_lanes(access, *flags.lanes, [](std::string_view field, int lane) {
      fail(ExitCode::bad_input, "--lanes: `{}` for lane {} is no byte address from 0 to 2^64 - 1.",
           field, lane);
    });
  } else if (flags.column) {
    access = tile_column(op, tile, *flags.column, flags.first);
  } else if (flags.row) {
    access = tile_row(op, tile, *flags.row, flags.first);
  } else {
    access = strided(op, flags.bytes,
                     flags.stride.value_or(static_cast<std::uint64_t>(flags.bytes)), flags.base);
  }
  return access;
}

std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer) {
  std::string columns = "op,bytes";
  for (int lane = 0; lane < warp_size; ++lane) columns += fmt::format(",lane{}", lane);
  Lines lines(file);
  std::string_view line;
  const bool any = lines.next(line);
  if (any && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // as spreadsheets mark UTF-8
  if (!any || line != columns) lines.refuse("", "op,bytes,lane0,...,lane31");
  std::string text = fmt::format("{}\n", header);
  try {
    while (lines.next(line)) {
      const auto numbers = answer(access_of(line, lines));
      fmt::format_to(std::back_inserter(text), "{},{}\n", numbers[0], numbers[1]);
    }
  } catch (const LaneError& error) {
    lines.refuse(fmt::format("lane{}", error.lane()), error.reason());
  }
  return text;
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
