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

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_keys = 1000;
constexpr std::size_t max_quoted = 160;

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

Json json_of(dom::element value, const Place& place) {
  switch (value.type()) {
    case dom::element_type::ARRAY: {
      Json list = Json::array();
      each_of(dom::array(value), place, [&](dom::element item, const Place& at) {
        list.push_back(json_of(item, at));
      });
      return list;
    }
    case dom::element_type::OBJECT: {
      Json object = Json::object();
      const Fields fields(value, place);
      for (const auto& [key, member] : fields.members())
        object.emplace(key, json_of(member, place.at(key)));
      return object;
    }
    case dom::element_type::STRING:
      return std::string_view(value);
    case dom::element_type::BOOL:
      return bool(value);
    case dom::element_type::NULL_VALUE:
      return nullptr;
    case dom::element_type::INT64:
      return std::int64_t(value);
    case dom::element_type::UINT64:
      return std::uint64_t(value);
    default:
      return double(value);
  }
}

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, before.size() - start + 1);
}

/// The parser's own words on what it met and what it expected, without its class names.
std::string reason(const Json::exception& error) {
  std::string_view words = error.what();
  for (const std::string_view lead : {"] ", " - "})
    if (const auto at = words.find(lead); at != std::string_view::npos)
      words.remove_prefix(at + lead.size());
  return quotable(words, max_quoted);
}

/// Says what is wrong, and where, by the slower parser, which knows the place and here keeps
/// nothing.
[[noreturn]] void refuse_text(std::string_view text, const std::string& origin,
                              const std::string& expected) {
  try {
    [[maybe_unused]] const Json nothing = Json::parse(
        text.begin(), text.end(), [](int, Json::parse_event_t, Json&) { return false; });
  } catch (const Json::parse_error& error) {
    fail(ExitCode::document_malformed,
         "{}: is not JSON at {}: {}; it may be truncated, or not {}.", origin,
         line_and_column(text, error.byte), reason(error), expected);
  } catch (const Json::exception& error) {
    fail(ExitCode::document_malformed, "{}: is not strict JSON: {}; {} was expected.", origin,
         reason(error), expected);
  }
  fail(ExitCode::document_malformed, "{}: holds a number that no result has: give {}.", origin,
       expected);
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

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

ParsedJson::ParsedJson(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  text = without_byte_order_mark(text);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    fail(ExitCode::document_malformed, "{}: is empty; {} (JSON) was expected.", origin, expected);
  auto problem = parser_.allocate(std::max<std::size_t>(text.size(), 64), max_depth);
  if (problem == simdjson::SUCCESS) problem = parser_.parse(text.data(), text.size()).get(root_);
  if (problem == simdjson::SUCCESS) return;
  if (problem == simdjson::MEMALLOC)
    fail(ExitCode::document_malformed, "{}: there is too little memory to read its {} bytes.",
         origin, text.size());
  if (problem == simdjson::DEPTH_ERROR)
    fail(ExitCode::document_malformed,
         "{}: nests deeper than {} levels, deeper than any file of Fathom's: give {}.", origin,
         max_depth, expected);
  parser_ = dom::parser();  // its memory is not needed beside the other's
  refuse_text(text, origin, expected);
}

Json parse_strict_json(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  constexpr std::ptrdiff_t max_values = 20'000'000;
  const auto begins_value = [](char c) { return c == ',' || c == '[' || c == '{'; };
  if (std::ranges::count_if(text, begins_value) > max_values)
    fail(ExitCode::document_malformed,
         "{}: holds more than {} values, more than any file of Fathom's: give {}.", origin,
         max_values, expected);
  return json_of(ParsedJson(text, origin, expected).root(), Place{&origin});
}

}  // namespace fathom
