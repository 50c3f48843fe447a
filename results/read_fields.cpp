#include "results/read_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "results/clean_text.h"
#include "results/fail.h"

namespace fathom {
namespace {

std::string expected_words(const nlohmann::ordered_json& schema) {
  if (schema.contains("const")) return schema["const"].dump();
  std::vector<std::string> words;
  if (schema.contains("enum")) {
    for (const auto& word : schema["enum"]) words.push_back(word.dump());
    return fmt::format("one of {}", fmt::join(words, ", "));
  }
  const nlohmann::ordered_json types =
      schema["type"].is_array() ? schema["type"] : nlohmann::ordered_json::array({schema["type"]});
  for (const auto& type : types) {
    const std::string word = type.get<std::string>();
    const bool vowel = word == "integer" || word == "object" || word == "array";
    words.push_back(word == "null" ? word : (vowel ? "an " : "a ") + word);
  }
  std::string text = fmt::format("{}", fmt::join(words, " or "));
  if (schema.contains("minimum")) text += ", at least " + schema["minimum"].dump();
  if (schema.contains("exclusiveMinimum")) text += ", above " + schema["exclusiveMinimum"].dump();
  if (schema.contains("maximum")) text += ", at most " + schema["maximum"].dump();
  if (schema.contains("minLength")) text += ", not empty";
  return text;
}

/// The value itself where it is short, else its kind. Bytes from a file go to no terminal as they
/// are.
std::string found_words(const nlohmann::json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "an array";
  const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  constexpr std::size_t short_enough = 60;
  return text.size() <= short_enough
             ? text
             : fmt::format("a {} of {} characters", value.type_name(), text.size());
}

}  // namespace

std::string JsonPlace::path() const {
  const std::string before = parent ? parent->path() : "";
  if (index) return fmt::format("{}/{}", before, *index);
  return parent ? before + "/" + quotable(key) : before;
}

void JsonPlace::refuse(const std::string& what) const {
  const std::string where = path();
  fail(ExitCode::document_malformed, "{}: {} {}.", *origin, where.empty() ? "the document" : where,
       what);
}

void refuse_value(const JsonPlace& place, const nlohmann::json& found,
                  const nlohmann::ordered_json& schema) {
  place.refuse(fmt::format("is {}; expected: {}", found_words(found), expected_words(schema)));
}

void refuse_missing(const JsonPlace& place, const char* member) {
  place.refuse(fmt::format("has no member \"{}\", which was expected", member));
}

}  // namespace fathom
