#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace fathom {

/// The number that the whole text is, in whole numbers' `base`; nothing if it is none.
template <class Number, class... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace fathom
