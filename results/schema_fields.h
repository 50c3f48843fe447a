#pragma once

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
    for_each_field(list, [&]<class Item>(const Item& item) {
      if constexpr (requires { item.list; }) {
        required.push_back(item.name);
        properties[item.name] = of_list(item.list);
      } else if constexpr (requires { item.rule; }) {
        if (item.rule.presence == Presence::required) required.push_back(item.name);
        if constexpr (requires { typename Item::ValueType; })
          properties[item.name] = of<typename Item::ValueType>(item.rule);
        else
          properties[item.name] = of_constant(item);
      }
    });
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

  static Json of_constant(const auto& constant) {
    Json schema{{"const", constant.value}};
    if (*constant.rule.about != 0) schema["description"] = constant.rule.about;
    return schema;
  }
};

}  // namespace fathom
