#include "tools/predict/patterns_csv.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "results/clean_text.h"
#include "results/error.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

using models::LaneError;
using models::warp_size;
using models::WarpAccess;

constexpr int columns = 2 + warp_size;

std::string column_name(int column) {
  if (column < 2) return column == 0 ? "op" : "bytes";
  return fmt::format("lane{}", column - 2);
}

/// A field as an error may show it.
std::string shown(std::string_view field) { return "`" + quotable(field, 40) + "`"; }

/// The lines of a file, without their ends.
class Lines {
 public:
  explicit Lines(const std::string& file)
      : name_(file == "-" ? "standard input" : file), buffer_(std::size_t{1} << 20) {
    if (file == "-") {
      input_ = STDIN_FILENO;
      return;
    }
    own_ = FileDescriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    input_ = own_.get();
    if (input_ < 0) fail();
  }
  const std::string& name() const { return name_; }
  std::uint64_t number() const { return number_; }  ///< of the last line, from 1

  bool next(std::string_view& line) {
    for (;;) {
      const char* begin = buffer_.data() + begin_;
      const auto* end =
          static_cast<const char*>(std::memchr(begin + searched_, '\n', end_ - begin_ - searched_));
      if (end != nullptr || (ended_ && begin_ != end_)) {
        const std::size_t length =
            end != nullptr ? static_cast<std::size_t>(end - begin) : end_ - begin_;
        line = std::string_view(begin, length);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        begin_ += length + (end != nullptr ? 1 : 0);
        searched_ = 0;
        ++number_;
        return true;
      }
      if (ended_) return false;
      searched_ = end_ - begin_;
      fill();
    }
  }

 private:
  void fill() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size())
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: line {} goes on for over 1 MiB: it is no CSV of patterns.",
                              name_, number_ + 1));
    ssize_t got = 0;
    do {
      got = read(input_, buffer_.data() + end_, buffer_.size() - end_);
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail();
    ended_ = got == 0;
    end_ += static_cast<std::size_t>(got);
  }
  [[noreturn]] void fail() const {
    throw Error(ExitCode::bad_input,
                fmt::format("{} cannot be read: {}.", name_, std::strerror(errno)));
  }
  std::string name_;
  FileDescriptor own_;
  int input_ = -1;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, searched_ = 0;
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

/// What is wrong in a row, without its place in the file.
struct Mistake {
  int column;  ///< -1: the row as a whole
  std::string what;
};

/// Takes the field that starts at `at` off the line; past the line's end where it was the last.
std::string_view take_field(const char*& at, const char* end) {
  const char* begin = at;
  at = std::find(at, end, ',');
  const std::string_view field(begin, static_cast<std::size_t>(at - begin));
  ++at;
  return field;
}

int width_of(std::string_view field) {
  constexpr std::array<std::string_view, 5> widths{"1", "2", "4", "8", "16"};
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (field == widths[i]) return 1 << i;
  throw Mistake{1, fmt::format("{} is no width, which is 1, 2, 4, 8 or 16 bytes", shown(field))};
}

void check_column_count(std::string_view line) {
  const auto count = std::count(line.begin(), line.end(), ',') + 1;
  if (count == columns) return;
  throw Mistake{-1, fmt::format("{} column{}, not {} (op, bytes and {} lanes)", count,
                                count == 1 ? "" : "s", columns, warp_size)};
}

void parse_row(std::string_view line, WarpAccess& access) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const std::string_view op = take_field(at, end);
  if (op == "load") {
    access.op = models::Access::load;
  } else if (op == "store") {
    access.op = models::Access::store;
  } else {
    check_column_count(line);
    throw Mistake{0, fmt::format("{} is neither load nor store", shown(op))};
  }
  if (at > end) check_column_count(line);
  const std::string_view width = take_field(at, end);
  if (at > end) check_column_count(line);
  access.bytes_per_lane = width_of(width);
  access.active_mask = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    if (at > end) check_column_count(line);
    if (at != end && *at != ',') {
      auto [stop, error] = std::from_chars(at, end, access.address[lane]);
      if (error != std::errc() || (stop != end && *stop != ',')) {
        check_column_count(line);
        const std::string_view field = take_field(at, end);
        if (!parse_address(field, access.address[lane]))
          throw Mistake{lane + 2,
                        fmt::format("{} is no byte address from 0 to 2^64 - 1", shown(field))};
        stop = at - 1;
      }
      access.active_mask |= 1u << lane;
      at = stop;
    }
    ++at;  // beyond the comma, or the line's end
  }
  if (at <= end) check_column_count(line);
}

/// The header's own mistakes: the first column that is not what it should be.
void check_header(Lines& lines) {
  std::string_view line;
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::bad_input,
                fmt::format("{}: {}: the first line must be op,bytes,lane0,...,lane31.",
                            lines.name(), what));
  };
  if (!lines.next(line)) refuse("there is nothing in it");
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // spreadsheets mark UTF-8 so
  const char* at = line.data();
  const char* const end = at + line.size();
  int column = 0;
  for (; at <= end; ++column) {
    const std::string_view field = take_field(at, end);
    if (column >= columns)
      refuse(fmt::format("the header has a column {} ({}), but a warp has lanes 0 to 31",
                         shown(field), column + 1));
    if (field != column_name(column))
      refuse(fmt::format("the header's column {} is {}, not `{}`", column + 1, shown(field),
                         column_name(column)));
  }
  if (column < columns) refuse(fmt::format("the header has {} columns, not {}", column, columns));
}

}  // namespace

bool parse_address(std::string_view text, std::uint64_t& address) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, address, hexadecimal ? 16 : 10);
  return error == std::errc() && stop == end;
}

std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer) {
  Lines lines(file);
  check_header(lines);
  std::string text(header);
  text += '\n';
  WarpAccess access;
  const auto refuse = [&](std::uint64_t line, const std::string& column, const std::string& what) {
    throw Error(ExitCode::bad_input, fmt::format("{}: row {} (line {}){}: {}.", lines.name(),
                                                 line - 1, line, column, what));
  };
  std::string_view line;
  std::uint64_t first_empty = 0;
  try {
    while (lines.next(line)) {
      if (line.empty()) {
        if (first_empty == 0) first_empty = lines.number();
        continue;
      }
      if (first_empty != 0) refuse(first_empty, "", "it is empty");
      parse_row(line, access);
      const auto numbers = answer(access);
      std::array<char, 32> row;
      char* end = std::to_chars(row.data(), row.data() + 12, numbers[0]).ptr;
      *end++ = ',';
      end = std::to_chars(end, end + 12, numbers[1]).ptr;
      *end++ = '\n';
      text.append(row.data(), end);
    }
  } catch (const Mistake& mistake) {
    refuse(lines.number(),
           mistake.column < 0 ? "" : fmt::format(", column {}", column_name(mistake.column)),
           mistake.what);
  } catch (const LaneError& error) {
    refuse(lines.number(), fmt::format(", column {}", column_name(error.lane() + 2)),
           error.reason());
  }
  return text;
}

}  // namespace fathom
