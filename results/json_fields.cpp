#include "results/json_fields.h"

#include <fmt/format.h>

namespace fathom {
namespace {

const char* kind_of(const nlohmann::json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  return value.is_null() ? "null" : "a number";
}

void require_kind(bool is_one, const nlohmann::json& value, const Place& place,
                  const char* expected) {
  if (!is_one) place.refuse(fmt::format("is {}; expected: {}", kind_of(value), expected));
}

}  // namespace

Fields::Fields(const nlohmann::json& value, const Place& place) : place_(place), value_(value) {
  require_kind(value.is_object(), value, place, "an object");
}

const nlohmann::json* Fields::find(std::string_view key) const {
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

const nlohmann::json& Fields::member(std::string_view key) const {
  const nlohmann::json* found = find(key);
  if (!found) place_.refuse(fmt::format("has no member \"{}\", which was expected", key));
  return *found;
}

std::string Fields::text(std::string_view key) const {
  return text_of(member(key), place_.at(key));
}

std::string Fields::text_or(std::string_view key, std::string otherwise) const {
  const nlohmann::json* found = find(key);
  return found && !found->is_null() ? text_of(*found, place_.at(key)) : std::move(otherwise);
}

double Fields::number(std::string_view key) const { return number_of(member(key), place_.at(key)); }

std::optional<double> Fields::optional_number(std::string_view key) const {
  const nlohmann::json* found = find(key);
  if (!found || found->is_null()) return std::nullopt;
  return number_of(*found, place_.at(key));
}

bool Fields::truth_or(std::string_view key, bool otherwise) const {
  const nlohmann::json* found = find(key);
  if (!found) return otherwise;
  require_kind(found->is_boolean(), *found, place_.at(key), "true or false");
  return found->get<bool>();
}

const nlohmann::json& Fields::list(std::string_view key) const {
  return list_of(member(key), place_.at(key));
}

std::vector<std::string> Fields::texts(std::string_view key) const {
  std::vector<std::string> all;
  each_of(list(key), place_.at(key), [&](const nlohmann::json& element, const Place& at) {
    all.push_back(text_of(element, at));
  });
  return all;
}

std::string text_of(const nlohmann::json& value, const Place& place) {
  require_kind(value.is_string(), value, place, "a string");
  return value.get<std::string>();
}

double number_of(const nlohmann::json& value, const Place& place) {
  require_kind(value.is_number(), value, place, "a number");
  return value.get<double>();
}

const nlohmann::json& list_of(const nlohmann::json& value, const Place& place) {
  require_kind(value.is_array(), value, place, "an array");
  return value;
}

}  // namespace fathom
