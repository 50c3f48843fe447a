#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace fathom {

/// The number that all of a text is, without a sign or a space before it but for "-".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace fathom
