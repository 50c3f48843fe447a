#include "tools/predict/patterns_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <vector>

#include "results/clean_text.h"
#include "results/fail.h"
#include "results/format.h"
#include "results/parse_number.h"

namespace fathom {
namespace {

using models::warp_size;
using models::WarpAccess;

constexpr int columns = 2 + warp_size;

std::string column_name(int column) {
  if (column < 2) return column == 0 ? "op" : "bytes";
  return fmt::format("lane{}", column - 2);
}

/// A field as an error may show it.
std::string shown(std::string_view field) { return "`" + quotable(field, 40) + "`"; }

/// Takes the first field off a line.
std::string_view take_field(std::string_view& line) {
  const std::size_t end = std::min(line.find(','), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

/// The rows of a file, whose header is checked first.
class Rows {
 public:
  explicit Rows(const std::string& file) : name_(file == "-" ? "standard input" : file) {
    if (file == "-") {
      std::ios::sync_with_stdio(false);  // else it is read byte by byte
      input_.rdbuf(std::cin.rdbuf());
    } else if (!own_.open(file, std::ios::in | std::ios::binary)) {
      refuse_unread();
    }
    std::string header = column_name(0);
    for (int column = 1; column < columns; ++column) header += "," + column_name(column);
    std::string_view line;
    const bool any = next_line(line);
    if (any && line.starts_with("\xef\xbb\xbf"))
      line.remove_prefix(3);  // as spreadsheets mark UTF-8
    if (!any || line != header)
      fail(ExitCode::bad_input, "{}: the first line must be op,bytes,lane0,...,lane31.", name_);
  }

  bool next(WarpAccess& access) {
    std::string_view line;
    if (!next_line(line)) return false;
    if (const auto count = std::ranges::count(line, ',') + 1; count != columns)
      refuse(-1, fmt::format("{}, not {} (op, bytes and {} lanes)", counted(count, "column"),
                             columns, warp_size));
    const std::string_view op = take_field(line);
    if (op != "load" && op != "store")
      refuse(0, fmt::format("{} is neither load nor store", shown(op)));
    access.op = op == "load" ? models::Access::load : models::Access::store;
    const std::string_view bytes = take_field(line);
    constexpr std::array<std::string_view, 5> widths{"1", "2", "4", "8", "16"};
    const auto width = std::ranges::find(widths, bytes) - widths.begin();
    if (width == std::ssize(widths))
      refuse(1, fmt::format("{} is no width, which is 1, 2, 4, 8 or 16 bytes", shown(bytes)));
    access.bytes_per_lane = 1 << width;
    access.active_mask = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::string_view field = take_field(line);
      if (field.empty()) continue;
      if (!parse_address(field, access.address[lane]))
        refuse(lane + 2, fmt::format("{} is no byte address from 0 to 2^64 - 1", shown(field)));
      access.active_mask |= 1u << lane;
    }
    return true;
  }

  /// What is wrong in the last row. Column -1: the row as a whole.
  [[noreturn]] void refuse(int column, const std::string& what) const {
    fail(ExitCode::bad_input, "{}: row {} (line {}){}: {}.", name_, number_ - 1, number_,
         column < 0 ? "" : fmt::format(", column {}", column_name(column)), what);
  }

 private:
  bool next_line(std::string_view& line) {
    input_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (input_.bad()) refuse_unread();
    if (input_.eof() && input_.fail()) return false;
    if (input_.fail())
      fail(ExitCode::bad_input, "{}: line {} goes on for over 1 MiB: it is no CSV of patterns.",
           name_, number_ + 1);
    line = std::string_view(buffer_.data(), static_cast<std::size_t>(input_.gcount()));
    if (!input_.eof()) line.remove_suffix(1);  // its end, which was taken off as well
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }
  [[noreturn]] void refuse_unread() const {
    fail(ExitCode::bad_input, "{} cannot be read: {}.", name_, std::strerror(errno));
  }

  std::string name_;
  std::vector<char> buffer_ = std::vector<char>((std::size_t{1} << 20) + 2);
  std::filebuf own_;
  std::istream input_{&own_};
  std::uint64_t number_ = 0;  ///< of the last line, from 1
};

}  // namespace

bool parse_address(std::string_view text, std::uint64_t& address) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  const auto number = parse_number<std::uint64_t>(text, hexadecimal ? 16 : 10);
  if (number) address = *number;
  return number.has_value();
}

std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer) {
  Rows rows(file);
  std::string text(header);
  text += '\n';
  WarpAccess access;
  try {
    while (rows.next(access)) {
      const auto numbers = answer(access);
      std::array<char, 32> row;
      char* end = std::to_chars(row.data(), row.data() + 12, numbers[0]).ptr;
      *end++ = ',';
      end = std::to_chars(end, end + 12, numbers[1]).ptr;
      *end++ = '\n';
      text.append(row.data(), end);
    }
  } catch (const models::LaneError& error) {
    rows.refuse(error.lane() + 2, error.reason());
  }
  return text;
}

}  // namespace fathom
