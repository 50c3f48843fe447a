#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace fathom {

/// What is not known is null.
template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace fathom
