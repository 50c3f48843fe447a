#include "results/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "results/document_io.h"
#include "results/document_keys.h"
#include "results/error.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

const Json& root_schema() {
  static const Json schema = Json::parse(document_schema());
  return schema;
}

bool is_null_schema(const Json& schema) { return schema.value("type", Json()) == "null"; }

/// What a schema says of a value, behind references and "null or this".
const Json& resolve(const Json& schema, const Json& value) {
  if (const auto reference = schema.find("$ref"); reference != schema.end()) {
    const std::string pointer = reference->get_ref<const std::string&>().substr(1);
    return resolve(root_schema().at(Json::json_pointer(pointer)), value);
  }
  if (const auto choice = schema.find("anyOf"); choice != schema.end()) {
    for (const Json& one : *choice)
      if (is_null_schema(one) == value.is_null()) return resolve(one, value);
    return resolve(choice->back(), value);
  }
  return schema;
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw std::logic_error("the schema has the type " + type);
}

bool has_one_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get_ref<const std::string&>());
  return std::any_of(types.begin(), types.end(), [&](const Json& type) {
    return has_type(value, type.get_ref<const std::string&>());
  });
}

/// Whether one keyword of a schema allows a value, whose members and items are looked at elsewhere.
bool allows(const std::string& keyword, const Json& rule, const Json& value) {
  if (keyword == "type") return has_one_type(value, rule);
  if (keyword == "const") return value == rule;
  if (keyword == "enum") return std::find(rule.begin(), rule.end(), value) != rule.end();
  if (keyword == "minimum") return !value.is_number() || value >= rule;
  if (keyword == "exclusiveMinimum") return !value.is_number() || value > rule;
  if (keyword == "maximum") return !value.is_number() || value <= rule;
  if (keyword == "minLength")  // that of every schema here is 1
    return !value.is_string() || value.get_ref<const std::string&>().size() >= rule;
  if (keyword == "required") {
    return !value.is_object() || std::all_of(rule.begin(), rule.end(), [&](const Json& key) {
      return value.contains(key.get_ref<const std::string&>());
    });
  }
  static const std::set<std::string> others{"$schema",     "title",      "description",
                                            "definitions", "properties", "additionalProperties",
                                            "items"};
  if (!others.contains(keyword)) throw std::logic_error("the schema has the keyword " + keyword);
  return true;
}

/// Where in a document a value is; the path is put together only for an error.
struct DocumentPlace {
  const DocumentPlace* above = nullptr;
  std::string_view key = {};
  std::size_t index = 0;

  std::string path() const {
    if (!above) return "";
    return key.data() ? fmt::format("{}/{}", above->path(), key)
                      : fmt::format("{}/{}", above->path(), index);
  }
};

struct Fault {
  std::string path;
  const Json* schema;
  const Json* value;
};

/// The first part of a value that its schema rejects and that has no rejected part itself.
std::optional<Fault> find_fault(const Json& unresolved, const Json& value,
                                const DocumentPlace& place) {
  const Json& schema = resolve(unresolved, value);
  if (value.is_object()) {
    const auto known = schema.find("properties");
    const auto any = schema.find("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      const Json* rules = any == schema.end() ? nullptr : &*any;
      if (known != schema.end() && known->contains(key)) rules = &known->at(key);
      if (!rules) continue;
      if (auto fault = find_fault(*rules, member, {&place, key})) return fault;
    }
  }
  if (const auto items = schema.find("items"); value.is_array() && items != schema.end()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      if (auto fault = find_fault(*items, value[i], {&place, {}, i})) return fault;
  }
  for (const auto& [keyword, rule] : schema.items())
    if (!allows(keyword, rule, value)) return Fault{place.path(), &schema, &value};
  return std::nullopt;
}

std::string expected_words(const Json& schema) {
  if (schema.contains("const")) return schema["const"].dump();
  std::vector<std::string> words;
  if (schema.contains("enum")) {
    for (const Json& word : schema["enum"]) words.push_back(word.dump());
    return fmt::format("one of {}", fmt::join(words, ", "));
  }
  const Json types = schema.value("type", Json("value"));
  for (const Json& type : types.is_array() ? types : Json::array({types})) {
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
std::string found_words(const Json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "an array";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t short_enough = 60;
  return text.size() <= short_enough
             ? text
             : fmt::format("a {} of {} characters", value.type_name(), text.size());
}

std::string explain(const Fault& fault) {
  if (fault.value->is_object()) {
    for (const Json& key : fault.schema->value("required", Json::array())) {
      if (!fault.value->contains(key.get<std::string>())) {
        return fmt::format("has no member {}, which was expected", key.dump());
      }
    }
  }
  return fmt::format("is {}; expected: {}", found_words(*fault.value),
                     expected_words(*fault.schema));
}

[[noreturn]] void refuse_document(const std::string& origin, const std::string& what) {
  throw Error(ExitCode::document_malformed, fmt::format("{}: {}", origin, what));
}

void check_version(const Json& json, const std::string& origin) {
  const bool benchmarks = json.is_object() && json.contains("benchmarks");
  const bool context = json.is_object() && json.contains("context") && json["context"].is_object();
  if (!benchmarks && !context) {
    refuse_document(
        origin,
        "is JSON but no result document: it has neither \"context\" nor \"benchmarks\"; "
        "give the result.json of a run.");
  }
  if (!context || !json["context"].contains(keys::own)) {
    refuse_document(origin,
                    "is a Google Benchmark file without Fathom's part (/context/fathom): only what "
                    "Fathom wrote can be read here; give the result.json of a run.");
  }
  const Json& own = json["context"][keys::own];
  const bool versioned = own.is_object() && own.contains("schema_version") &&
                         own["schema_version"].is_number_integer();
  if (versioned && own["schema_version"] != schema_version) {
    throw Error(ExitCode::document_version,
                fmt::format("{}: is a result document of schema version {}, and this Fathom reads "
                            "version {}: use the Fathom that wrote it, or measure again.",
                            origin, own["schema_version"].dump(), schema_version));
  }
}

}  // namespace

void check_schema(const Json& json, const std::string& origin) {
  check_version(json, origin);
  const std::optional<Fault> fault = find_fault(root_schema(), json, {});
  if (!fault) return;
  refuse_document(origin,
                  fmt::format("{} {}. Give the result.json as a run wrote it.",
                              fault->path.empty() ? "the document" : fault->path, explain(*fault)));
}

}  // namespace fathom
