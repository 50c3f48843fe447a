#pragma once

#include <cmath>
#include <concepts>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace fathom::models {

inline std::string formatted_list(const char* format, std::va_list arguments) {
  std::va_list measured;
  va_copy(measured, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, measured);
  va_end(measured);
  std::string text(length < 0 ? 0 : static_cast<std::size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

/// printf into a string. The models need the standard library alone, and its `<format>` is missing
/// in the oldest compiler that Fathom supports (g++ 12). On Linux std::int64_t is a long: %ld.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string text = formatted_list(format, arguments);
  va_end(arguments);
  return text;
}

/// The same, thrown as std::invalid_argument.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] inline void refuse(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted_list(format, arguments);
  va_end(arguments);
  throw std::invalid_argument(text);
}

/// A count as a number to divide and to scale.
inline double real(std::integral auto count) { return static_cast<double>(count); }

/// Not for NaN, nor for infinity.
inline bool is_positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace fathom::models
