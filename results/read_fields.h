#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "results/json_place.h"
#include "results/schema_fields.h"

namespace fathom {

/// Refuses a value in the words of what its schema asks for.
[[noreturn]] void refuse_value(const JsonPlace& place, const nlohmann::json& found,
                               const nlohmann::ordered_json& schema);
[[noreturn]] void refuse_missing(const JsonPlace& place, const char* member);

template <class List, class Object>
void read_list(const List& list, const nlohmann::json& json, const JsonPlace& place, Object& to);

/// A value without parts; false where the schema does not allow it.
template <class Value>
bool read_plain(const nlohmann::json& json, const FieldRule& rule, Value& to) {
  if constexpr (std::same_as<Value, bool>) {
    if (!json.is_boolean()) return false;
    to = json.get<bool>();
  } else if constexpr (std::same_as<Value, std::string>) {
    if (!json.is_string()) return false;
    to = json.get_ref<const std::string&>();
    return !rule.not_empty || !to.empty();
  } else if constexpr (std::is_enum_v<Value>) {
    if (!json.is_string()) return false;
    const auto known = from_string<Value>(json.get_ref<const std::string&>());
    if (known) to = *known;
    return known.has_value();
  } else if constexpr (std::same_as<Value, AxisValue>) {
    if (json.is_string()) {
      to = json.get<std::string>();
      return true;
    }
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (json.is_number_integer() &&
        !(json.is_number_unsigned() && json.get<std::uint64_t>() > largest))
      to = json.get<std::int64_t>();
    else if (json.is_number())
      to = json.get<double>();
    return json.is_number();
  } else {
    if (std::integral<Value> ? !json.is_number_integer() : !json.is_number()) return false;
    const double number = json.get<double>();
    const FieldRule limits = within_type<Value>(rule);
    if (!(number >= limits.least && number > limits.above && number <= limits.most)) return false;
    to = json.get<Value>();
  }
  return true;
}

/// Reads what write_fields wrote, or an older Fathom. Throws Error(document_malformed) naming the
/// place of the first fault and what was expected there.
template <class Value>
void read_fields(const nlohmann::json& json, const JsonPlace& place, Value& to,
                 const FieldRule& rule = {}) {
  const auto refuse = [&] { refuse_value(place, json, SchemaOfFields().of<Value>(rule)); };
  if constexpr (Listed<Value>) {
    read_list(fields_of<Value>, json, place, to);
  } else if constexpr (is_optional<Value>) {
    using Inner = typename Value::value_type;
    to.reset();
    if (json.is_null() && rule.presence != Presence::if_set) return;
    if constexpr (Listed<Inner>)
      read_fields(json, place, to.emplace());
    else if (!read_plain(json, rule, to.emplace()))
      refuse();
  } else if constexpr (is_vector<Value>) {
    if (!json.is_array()) refuse();
    to.clear();
    to.reserve(json.size());
    for (const nlohmann::json& item : json) {
      to.emplace_back();
      read_fields(item, place.at(to.size() - 1), to.back());
    }
  } else if constexpr (is_map<Value>) {
    if (!json.is_object()) refuse();
    to.clear();
    for (const auto& [key, item] : json.items()) read_fields(item, place.at(key), to[key]);
  } else if (!read_plain(json, rule, to)) {
    refuse();
  }
}

template <class Object>
struct FieldReader {
  const nlohmann::json& json;
  const JsonPlace& place;
  Object& to;

  const nlohmann::json* find(const char* name, Presence presence = Presence::required) const {
    const auto found = json.find(name);
    if (found != json.end()) return &*found;
    if (presence == Presence::required) refuse_missing(place, name);
    return nullptr;
  }
  template <class Value>
  void read(const Field<Object, Value>& field) const {
    if (const auto* member = find(field.name, field.rule.presence))
      read_fields(*member, place.at(field.name), to.*field.member, field.rule);
  }
  template <class List>
  void read(const Part<List>& part) const {
    read_list(part.list, *find(part.name), place.at(part.name), to);
  }
  template <class Value>
  void read(const Derived<Object, Value>& field) const {
    Value checked{};
    read_fields(*find(field.name), place.at(field.name), checked, field.rule);
  }
  template <class Value>
  void read(const Constant<Value>& field) const {
    const nlohmann::json& member = *find(field.name);
    if (member != field.value) refuse_value(place.at(field.name), member, {{"const", field.value}});
  }
  void read(const Further<Object>&) const {}
};

template <class List, class Object>
void read_list(const List& list, const nlohmann::json& json, const JsonPlace& place, Object& to) {
  if (!json.is_object()) refuse_value(place, json, {{"type", "object"}});
  const FieldReader<Object> reader{json, place, to};
  for_each_field(list, [&](const auto& field) { reader.read(field); });
}

}  // namespace fathom
