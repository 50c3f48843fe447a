#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// Where in a JSON text a value is; paths are put together only for an error.
struct Place {
  const std::string* origin;
  const Place* parent = nullptr;
  std::string_view key{};
  std::optional<std::size_t> index{};

  Place at(std::string_view name) const { return {origin, this, name, std::nullopt}; }
  Place at(std::size_t position) const { return {origin, this, {}, position}; }
  std::string path() const;
  /// Throws Error(document_malformed): "<origin>: <path> <what>."
  [[noreturn]] void refuse(const std::string& what) const;
};

/// The text, which must be a time in UTC that a clock may have shown, else it is refused.
std::string date_of(std::string text, const Place& place);

/// The text behind a byte order mark, which some editors and shells put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// The value of one strict JSON text. Refuses what ParsedJson (json_fields.h) refuses, and more
/// than 20 million values. `expected` is what the text should be.
nlohmann::json parse_strict_json(std::string_view text, const std::string& origin,
                                 const std::string& expected = "a result document");

/// What is not known is null.
template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace fathom
