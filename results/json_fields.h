#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/json_place.h"
#include "results/names.h"
#include "results/strict_json.h"

namespace fathom {

std::string text_of(const nlohmann::json& value, const Place& place);
double number_of(const nlohmann::json& value, const Place& place);
const nlohmann::json& list_of(const nlohmann::json& value, const Place& place);

/// Hands on each element of a list with its place.
template <typename Use>
void each_of(const nlohmann::json& list, const Place& place, Use use) {
  std::size_t index = 0;
  for (const nlohmann::json& element : list) use(element, place.at(index++));
}

/// A JSON object's members with checked types.
class Fields {
 public:
  /// The places above `place` must outlive this, so the object that it is a member of as well.
  Fields(const nlohmann::json& value, const Place& place);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  bool has(std::string_view key) const { return find(key) != nullptr; }
  const Place& place() const { return place_; }
  auto members() const { return value_.items(); }

  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string otherwise) const;
  double number(std::string_view key) const;
  bool truth_or(std::string_view key, bool otherwise) const;
  /// Nothing for a member that is null or not there.
  std::optional<double> optional_number(std::string_view key) const;
  const nlohmann::json& member(std::string_view key) const;
  const nlohmann::json& list(std::string_view key) const;
  Fields object(std::string_view key) const { return {member(key), place_.at(key)}; }
  std::vector<std::string> texts(std::string_view key) const;
  /// Hands on each element of a list of objects as its fields.
  template <typename Use>
  void each(std::string_view key, Use use) const {
    each_of(list(key), place_.at(key),
            [&](const nlohmann::json& element, const Place& at) { use(Fields(element, at)); });
  }
  /// Refuses a member that is there and no good: "<origin>: <path> <what>".
  [[noreturn]] void refuse(std::string_view key, const std::string& what) const {
    place_.at(key).refuse(what);
  }

 private:
  const nlohmann::json* find(std::string_view key) const;

  Place place_;
  const nlohmann::json& value_;
};

/// The value that a member's word stands for; `expected` names them all.
template <typename Enum>
Enum word_of(const Fields& fields, std::string_view key, const std::string& expected) {
  const auto value = from_string<Enum>(fields.text(key));
  if (!value) fields.refuse(key, "is none of " + expected);
  return *value;
}

}  // namespace fathom
