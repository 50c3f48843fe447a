#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// Where in a JSON text a value is; paths are put together only for an error.
struct JsonPlace {
  const std::string* origin;
  const JsonPlace* parent = nullptr;
  std::string_view key{};
  std::optional<std::size_t> index{};

  JsonPlace at(std::string_view name) const { return {origin, this, name, std::nullopt}; }
  JsonPlace at(std::size_t position) const { return {origin, this, {}, position}; }
  std::string path() const;
  /// Throws Error(document_malformed): "<origin>: <path> <what>."
  [[noreturn]] void refuse(const std::string& what) const;
};

}  // namespace fathom
