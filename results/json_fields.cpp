#include "results/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/clean_text.h"
#include "results/fail.h"
#include "results/format.h"
#include "results/strict_json.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_keys = 1000;

const char* kind_of(dom::element value) {
  switch (value.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

template <typename Value>
Value typed(dom::element value, const Place& place, const char* expected) {
  Value result{};
  if (value.get<Value>().get(result) != simdjson::SUCCESS)
    place.refuse(fmt::format("is {}; expected: {}", kind_of(value), expected));
  return result;
}

}  // namespace

Fields::Fields(dom::element value, const Place& place) : place_(place) {
  const auto object = typed<dom::object>(value, place, "an object");
  for (const auto& [key, member] : object) {
    members_.emplace_back(key, member);
    if (members_.size() > max_keys)
      place.refuse(fmt::format("has more than {} keys, more than any result's", max_keys));
  }
  std::vector<std::string_view> keys;
  keys.reserve(members_.size());
  for (const auto& [key, member] : members_) keys.push_back(key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice != keys.end())
    place.refuse(fmt::format("has the key \"{}\" twice; each may be there once", quotable(*twice)));
}

const dom::element* Fields::find(std::string_view key) const {
  for (const auto& [name, member] : members_)
    if (name == key) return &member;
  return nullptr;
}

dom::element Fields::member(std::string_view key) const {
  const dom::element* found = find(key);
  if (!found) place_.refuse(fmt::format("has no member \"{}\", which was expected", key));
  return *found;
}

std::string Fields::text(std::string_view key) const {
  return text_of(member(key), place_.at(key));
}

std::string Fields::text_or(std::string_view key, std::string otherwise) const {
  const dom::element* found = find(key);
  return found && !found->is_null() ? text_of(*found, place_.at(key)) : std::move(otherwise);
}

double Fields::number(std::string_view key) const { return number_of(member(key), place_.at(key)); }

std::optional<double> Fields::optional_number(std::string_view key) const {
  const dom::element* found = find(key);
  if (!found || found->is_null()) return std::nullopt;
  return number_of(*found, place_.at(key));
}

bool Fields::truth_or(std::string_view key, bool otherwise) const {
  const dom::element* found = find(key);
  return found ? truth_of(*found, place_.at(key)) : otherwise;
}

dom::array Fields::list(std::string_view key) const { return list_of(member(key), place_.at(key)); }

std::vector<std::string> Fields::texts(std::string_view key) const {
  std::vector<std::string> all;
  each_of(list(key), place_.at(key),
          [&](dom::element element, const Place& at) { all.push_back(text_of(element, at)); });
  return all;
}

std::string text_of(dom::element value, const Place& place) {
  return std::string(typed<std::string_view>(value, place, "a string"));
}

double number_of(dom::element value, const Place& place) {
  return typed<double>(value, place, "a number");
}

bool truth_of(dom::element value, const Place& place) {
  return typed<bool>(value, place, "true or false");
}

dom::array list_of(dom::element value, const Place& place) {
  return typed<dom::array>(value, place, "an array");
}

ParsedJson::ParsedJson(std::string_view text, const std::string& origin) {
  text = without_byte_order_mark(text);
  auto problem = parser_.allocate(std::max<std::size_t>(text.size(), 64), max_depth);
  if (problem == simdjson::SUCCESS) problem = parser_.parse(text.data(), text.size()).get(root_);
  if (problem == simdjson::SUCCESS) return;
  // The parser below would want more still.
  if (problem == simdjson::MEMALLOC)
    fail(ExitCode::document_malformed, "{}: there is too little memory to read its {} bytes.",
         origin, text.size());
  // The slower parser says what is wrong, and where; this one's memory is not needed beside it.
  parser_ = dom::parser();
  require_strict_json(text, origin);
  fail(ExitCode::document_malformed,
       "{}: holds a number or a nesting that no result has: give a result document.", origin);
}

}  // namespace fathom
