#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/fields.h"
#include "results/names.h"

namespace fathom {

/// A type's own limits of whole numbers: those that JSON's readers agree on.
template <class Value>
constexpr FieldRule within_type(FieldRule rule) {
  if constexpr (std::integral<Value>) {
    rule.least = 0;
    rule.most = sizeof(Value) == sizeof(std::int64_t) ? 9007199254740991.0
                                                      : std::numeric_limits<Value>::max();
  }
  return rule;
}

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool is_vector = false;
template <class Value>
inline constexpr bool is_vector<std::vector<Value>> = true;
template <class Value>
inline constexpr bool is_map = false;
template <class Value>
inline constexpr bool is_map<std::map<std::string, Value>> = true;

/// The JSON Schema of fields; those of lists that have a name are in `definitions`.
class SchemaOfFields {
 public:
  using Json = nlohmann::ordered_json;
  Json definitions = Json::object();

  template <class Value>
  Json of(const FieldRule& rule = {}) {
    Json schema;
    if constexpr (Listed<Value>) {
      return of_list(fields_of<Value>);
    } else if constexpr (is_optional<Value>) {
      schema = of<typename Value::value_type>(rule);
      if (rule.presence == Presence::if_set) return schema;
      if (!schema.contains("type")) return {{"anyOf", {{{"type", "null"}}, schema}}};
      schema["type"] = Json::array({schema["type"], "null"});
      return schema;
    } else if constexpr (is_vector<Value>) {
      schema["type"] = "array";
      schema["items"] = of<typename Value::value_type>();
    } else if constexpr (is_map<Value>) {
      schema["type"] = "object";
      schema["additionalProperties"] = of<typename Value::mapped_type>();
    } else if constexpr (std::same_as<Value, AxisValue>) {
      schema["type"] = {"integer", "number", "string"};
    } else if constexpr (std::is_enum_v<Value>) {
      schema["enum"] = enum_words<Value>;
    } else if constexpr (std::same_as<Value, bool>) {
      schema["type"] = "boolean";
    } else if constexpr (std::same_as<Value, std::string>) {
      schema["type"] = "string";
    } else {
      schema["type"] = std::integral<Value> ? "integer" : "number";
      const FieldRule limits = within_type<Value>(rule);
      add_limit(schema, "minimum", limits.least);
      add_limit(schema, "exclusiveMinimum", limits.above);
      add_limit(schema, "maximum", limits.most);
    }
    if (rule.not_empty) schema["minLength"] = 1;
    if (*rule.about != 0) schema["description"] = rule.about;
    return schema;
  }

  template <class List>
  Json of_list(const List& list) {
    Json schema{{"type", "object"}, {"description", list.about}};
    Json required = Json::array(), properties = Json::object();
    for_each_field(list, [&](const auto& field) { add(field, required, properties); });
    schema["required"] = std::move(required);
    schema["properties"] = std::move(properties);
    const std::string name = list.name;
    if (name.empty()) return schema;
    definitions[name] = std::move(schema);
    return {{"$ref", "#/definitions/" + name}};
  }

 private:
  static void add_limit(Json& schema, const char* keyword, double limit) {
    if (std::isfinite(limit)) schema[keyword] = static_cast<std::int64_t>(limit);
  }

  template <class Object, class Value>
  void add(const Field<Object, Value>& field, Json& required, Json& properties) {
    if (field.rule.presence == Presence::required) required.push_back(field.name);
    properties[field.name] = of<Value>(field.rule);
  }
  template <class List>
  void add(const Part<List>& part, Json& required, Json& properties) {
    required.push_back(part.name);
    properties[part.name] = of_list(part.list);
  }
  template <class Object, class Value>
  void add(const Derived<Object, Value>& field, Json& required, Json& properties) {
    required.push_back(field.name);
    properties[field.name] = of<Value>(field.rule);
  }
  template <class Value>
  void add(const Constant<Value>& field, Json& required, Json& properties) {
    required.push_back(field.name);
    properties[field.name] = {{"const", field.value}};
    if (*field.rule.about != 0) properties[field.name]["description"] = field.rule.about;
  }
  template <class Object>
  void add(const Further<Object>&, Json&, Json&) {}
};

}  // namespace fathom
