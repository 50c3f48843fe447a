#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "results/fields.h"
#include "results/names.h"

namespace fathom {

template <class List, class Object>
nlohmann::ordered_json write_list(const List& list, const Object& object);

/// A value as it stands in a document; an optional that is empty is null.
template <class Value>
nlohmann::ordered_json write_fields(const Value& value) {
  using Json = nlohmann::ordered_json;
  if constexpr (Listed<Value>) {
    return write_list(fields_of<Value>, value);
  } else if constexpr (Optional<Value>) {
    return value ? write_fields(*value) : Json(nullptr);
  } else if constexpr (Vector<Value>) {
    Json array = Json::array();
    for (const auto& item : value) array.push_back(write_fields(item));
    return array;
  } else if constexpr (std::same_as<Value, AxisValue>) {
    return std::visit([](const auto& v) { return Json(v); }, value);
  } else if constexpr (std::is_enum_v<Value>) {
    return to_string(value);
  } else {
    return value;
  }
}

template <class List, class Object>
nlohmann::ordered_json write_list(const List& list, const Object& object) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for_each_field(list, [&](const auto& field) {
    if constexpr (requires { field.list; }) {
      json[field.name] = write_list(field.list, object);
    } else {
      const auto& value = object.*field.member;
      if (field.rule.presence != Presence::if_set ||
          value != std::remove_cvref_t<decltype(value)>{})
        json[field.name] = write_fields(value);
    }
  });
  return json;
}

}  // namespace fathom
