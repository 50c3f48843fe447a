#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// Small things that are done with text: making it safe to show, reading numbers and times from it,
// and guessing the word that was meant.

/// Text that somebody else wrote, for a terminal, a log or a page: one line of valid UTF-8 that
/// shows what it holds. Line breaks and tabs become spaces. What a terminal obeys or a reader
/// cannot see is named instead: control characters, directions and line separators, as "<U+202E>".
/// Bytes that are no UTF-8 become U+FFFD.
std::string clean(std::string_view text);

/// The same for quoting in a sentence: about `longest` bytes of it at most.
std::string quotable(std::string_view text, std::size_t longest = 100);

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

}  // namespace fathom
