#include "results/fields.h"

#include <cmath>

#include "results/fail.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_quoted = 200;

}  // namespace

std::string Place::path() const {
  const std::string before = parent ? parent->path() : "";
  if (index) return fmt::format("{}/{}", before, *index);
  return parent ? before + "/" + quotable(key) : before;
}

void Place::refuse(const std::string& what) const {
  const std::string where = path();
  fail(ExitCode::document_malformed, "{}: {} {}.", *origin, where.empty() ? "the document" : where,
       what);
}

void refuse_kind(dom::element value, const Place& place, const char* expected) {
  const char* kind = value.is_array()    ? "an array"
                     : value.is_object() ? "an object"
                     : value.is_string() ? "a string"
                     : value.is_bool()   ? "true or false"
                     : value.is_null()   ? "null"
                                         : "a number";
  place.refuse(fmt::format("is {}; expected: {}", kind, expected));
}

void check_whole(double number, double most, const Place& place) {
  if (number >= 0 && number <= most && number == std::floor(number)) return;
  place.refuse(fmt::format("is {}; expected: a whole number from 0 to {:.0f}", number, most));
}

Fields::Fields(dom::element value, const Place& place)
    : place_(place), members_(typed<dom::object>(value, place, "an object")) {
  std::vector<std::string_view> keys;
  for (const auto& [key, member] : members_) keys.push_back(key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice != keys.end())
    place.refuse(fmt::format("has the key \"{}\" twice; each may be there once", quotable(*twice)));
}

std::optional<dom::element> Fields::find(std::string_view key) const {
  dom::element found;
  return members_.at_key(key).get(found) == simdjson::SUCCESS ? std::optional(found) : std::nullopt;
}

dom::element Fields::member(std::string_view key) const {
  const auto found = find(key);
  if (!found) place_.refuse(fmt::format("has no member \"{}\", which was expected", key));
  return *found;
}

void require_version(const Fields& own, std::string_view key, int expected, const char* what) {
  if (const double version = own.number(key); version != expected)
    fail(ExitCode::document_version,
         "{}: is of version {} of {}, and this Fathom reads version {}: use the Fathom that wrote "
         "it, or measure again.",
         *own.place().origin, version, what, expected);
}

std::string date_of(std::string text, const Place& place) {
  if (!parse_utc_time(text))
    place.refuse(fmt::format("is \"{}\"; expected: a time in UTC, as \"2026-01-31T12:00:00Z\"",
                             quotable(text)));
  return text;
}

ParsedJson::ParsedJson(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  text = without_byte_order_mark(text);
  auto problem = parser_.allocate(std::max<std::size_t>(text.size(), 64), max_depth);
  if (problem == simdjson::SUCCESS) problem = parser_.parse(text.data(), text.size()).get(root_);
  if (problem == simdjson::SUCCESS) return;
  if (problem == simdjson::MEMALLOC)
    fail(ExitCode::document_malformed, "{}: there is too little memory to read its {} bytes.",
         origin, text.size());
  if (problem == simdjson::EMPTY)
    fail(ExitCode::document_malformed, "{}: is empty; {} (JSON) was expected.", origin, expected);
  if (problem == simdjson::DEPTH_ERROR)
    fail(ExitCode::document_malformed,
         "{}: nests deeper than {} levels, deeper than any file of Fathom's: give {}.", origin,
         max_depth, expected);
  // The slower parser knows the place of the fault, and keeps nothing here.
  parser_ = dom::parser();  // its memory is not needed beside the other's
  std::string fault = "a number that no result has";
  try {
    [[maybe_unused]] const Json nothing = Json::parse(
        text.begin(), text.end(), [](int, Json::parse_event_t, Json&) { return false; });
  } catch (const Json::exception& error) {
    fault = error.what();
    fault.erase(0, fault.find("] ") + 2);  // the exception's class
  }
  fail(ExitCode::document_malformed, "{}: is not JSON: {}; it may be truncated, or not {}.", origin,
       quotable(fault, max_quoted), expected);
}

Json parse_strict_json(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  (void)ParsedJson(text, origin, expected);
  return Json::parse(text);
}

}  // namespace fathom
