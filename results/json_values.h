#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace fathom {

/// A member that is there: the schema was checked before.
inline std::string text(const nlohmann::json& json, const char* key) {
  return json.at(key).get<std::string>();
}

/// Nothing where the member is absent or null.
template <typename Value>
std::optional<Value> optional(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<Value>();
}

/// What is not known is null.
template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace fathom
