#pragma once

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/error.h"

namespace fathom {

// Text for people: making it safe to show, reading numbers and times from it, guessing the word
// that was meant, and writing figures.

/// Text that somebody else wrote, for a terminal, a log or a page: one line of valid UTF-8 that
/// shows what it holds. Line breaks and tabs become spaces. What a terminal obeys or a reader
/// cannot see is named instead: control characters, directions and line separators, as "<U+202E>".
/// Bytes that are no UTF-8 become U+FFFD.
std::string clean(std::string_view text);

/// The same for quoting in a sentence: about `longest` bytes of it at most.
std::string quotable(std::string_view text, std::size_t longest = 100);

/// The text behind a byte order mark, which some editors and shells put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// The number that the whole text is, in whole numbers' `base`; nothing if it is none.
template <class Number, class... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// ISO 8601 in UTC to the second: "2026-01-31T12:00:00Z". Such texts sort by time.
std::string utc_time(std::chrono::system_clock::time_point time);

/// Such a text's time; nothing for any other text, for a day or an hour that does not exist, and
/// for a year that no clock shows: before 1971 or after 2200.
std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text);

/// The same without what a file's name should not have: "20260131T120000Z".
std::string utc_time_for_names(std::chrono::system_clock::time_point time);

/// The candidate that `word` is most likely a misspelling of: the least edit distance (insertions,
/// deletions, substitutions), if that is at most a third of the word's length
/// (without leading dashes) plus one, or else one that `word` begins or is part of.
std::optional<std::string> closest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

/// " Did you mean `copy_bandwidth`?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// Figures for people, in reports and on terminals: four significant digits, prefixes by the kind of
// quantity, the same text for the same number on every machine and in every locale. A number that
// is not finite is shown as "not finite", an empty optional as "-".

/// From a fraction: 0.0123 is "1.23 %".
std::string format_percent(double fraction);

/// The same with its sign: "+3 %", "-0.4 %".
std::string format_signed_percent(double fraction);

/// With thousands separators: "33,554,432". Numbers with a fraction get at most four significant
/// digits.
std::string format_count(double number);

/// "1 entry", "2 entries"; "3 runs" where the plural only has an s more.
std::string counted(std::size_t number, const std::string& one, const std::string& many = "");

/// Four significant digits without trailing zeros; separators from 10,000 on.
std::string format_number(double number);

/// The shortest text that gives this very number back, with thousands separators where it is whole.
std::string format_exact(double number);

/// A value in one of the document's units: "B" and "B/s" as above, "s" as time, "Hz", "FLOP/s",
/// "op/s", "W", "J", "J/B", "J/FLOP" and "J/op" with decimal prefixes, "%" (a number of percent),
/// "C" as degrees Celsius; any other unit ("cycles", "sectors", "") after a plain number. Units are
/// the document's own.
std::string format_quantity(double value, const std::string& unit);
inline std::string format_quantity(const std::optional<double>& value, const std::string& unit) {
  return value ? format_quantity(*value, unit) : "-";
}

/// Powers of 1024: "1 GiB", "1.5 MiB", "768 B".
inline std::string format_bytes(double bytes) { return format_quantity(bytes, "B"); }

/// Powers of 1000, from bytes per second: "4.286 TB/s".
inline std::string format_bandwidth(double rate) { return format_quantity(rate, "B/s"); }

/// From seconds: "512.3 us", "1.5 ms", "2 s".
inline std::string format_time(double seconds) { return format_quantity(seconds, "s"); }

/// One prefix for several figures, of a column or an axis: divided by `factor` they are in `unit`.
struct Scale {
  double factor = 1;
  std::string unit;  ///< with its prefix: "GB/s"; may be empty
};

/// The prefix that `format_quantity` gives to `typical`.
Scale prefixed_unit(double typical, const std::string& unit);

/// The value as text: "float4", "256", "0.5". A whole number on an axis that is named "size" or
/// ends in "bytes" is shown as bytes: "1 GiB".
std::string format_axis_value(const std::string& axis, const AxisValue& value);

/// Throws Error with a sentence that fmt makes. Apart from error.h, which CUDA sources include.
template <class... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> sentence, Args&&... args) {
  throw Error(code, fmt::format(sentence, std::forward<Args>(args)...));
}

}  // namespace fathom
