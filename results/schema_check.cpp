#include "results/schema_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "results/document_io.h"
#include "results/document_keys.h"
#include "results/error.h"

namespace fathom {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

const Json& root_schema() {
  static const Json schema = Json::parse(document_schema());
  return schema;
}

/// A part of the schema, ready to validate values with.
class Validator {
 public:
  explicit Validator(Json schema) {
    schema["definitions"] = root_schema().at("definitions");
    valijson::SchemaParser().populateSchema(Adapter(schema), schema_);
  }
  /// Stops at the first fault. (Collecting them all costs memory for each of what may be millions.)
  bool accepts(const Json& value) const {
    return valijson::Validator().validate(schema_, Adapter(value), nullptr);
  }

 private:
  valijson::Schema schema_;
};

/// What a schema says of a value, behind references and "null or this".
const Json& resolve(const Json& schema, const Json& value) {
  if (schema.contains("$ref")) {
    const std::string pointer = schema.at("$ref").get<std::string>().substr(1);
    return resolve(root_schema().at(Json::json_pointer(pointer)), value);
  }
  if (schema.contains("anyOf") && !value.is_null()) return resolve(schema["anyOf"].back(), value);
  return schema;
}

struct Fault {
  std::string path;
  const Json* schema;
  const Json* value;
};

/// The first part of a rejected value that is rejected itself, with nothing in it that is.
Fault locate(Fault at) {
  at.schema = &resolve(*at.schema, *at.value);
  if (at.value->is_object() && at.schema->contains("properties")) {
    for (const auto& [key, schema] : at.schema->at("properties").items()) {
      const auto member = at.value->find(key);
      if (member != at.value->end() && !Validator(resolve(schema, *member)).accepts(*member)) {
        return locate({at.path + "/" + key, &schema, &*member});
      }
    }
  }
  if (at.value->is_object() && at.schema->contains("additionalProperties")) {
    const Json& schema = at.schema->at("additionalProperties");
    const Validator validator(schema);
    for (const auto& [key, member] : at.value->items()) {
      if (!validator.accepts(member)) return locate({at.path + "/" + key, &schema, &member});
    }
  }
  if (at.value->is_array() && at.schema->contains("items")) {
    const Json& schema = at.schema->at("items");
    const Validator validator(schema);
    for (std::size_t i = 0; i < at.value->size(); ++i) {
      const Json& item = (*at.value)[i];
      if (!validator.accepts(item)) {
        return locate({fmt::format("{}/{}", at.path, i), &schema, &item});
      }
    }
  }
  return at;
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

[[noreturn]] void refuse(const std::string& origin, const std::string& what) {
  throw Error(ExitCode::document_malformed, fmt::format("{}: {}", origin, what));
}

void check_version(const Json& json, const std::string& origin) {
  const bool benchmarks = json.is_object() && json.contains("benchmarks");
  const bool context = json.is_object() && json.contains("context") && json["context"].is_object();
  if (!benchmarks && !context) {
    refuse(origin,
           "is JSON but no result document: it has neither \"context\" nor \"benchmarks\"; "
           "give the result.json of a run.");
  }
  if (!context || !json["context"].contains(keys::own)) {
    refuse(origin,
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
  static const Validator whole(root_schema());
  if (whole.accepts(json)) return;
  const Fault fault = locate({"", &root_schema(), &json});
  refuse(origin, fmt::format("{} {}. Give the result.json as a run wrote it.",
                             fault.path.empty() ? "the document" : fault.path, explain(fault)));
}

}  // namespace fathom
