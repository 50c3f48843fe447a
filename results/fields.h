#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "results/json_fields.h"
#include "results/names.h"

namespace fathom {

// The fields of a struct as a list that its reader, its writer and its schema walk.
// document_fields.h has the lists of the result document.

enum class Presence {
  required,
  later,   ///< absent in older documents; always written
  if_set,  ///< absent, rather than null, where there is no value
};

inline constexpr double no_limit = -std::numeric_limits<double>::infinity();

/// What a value must keep to beside its type's own limits.
struct FieldRule {
  Presence presence = Presence::required;
  double least = no_limit, above = no_limit, most = -no_limit;
  bool not_empty = false;
  const char* about = "";
};

/// With a type's own limits: whole numbers are not below 0, nor above what JSON's readers agree on.
template <class Value>
constexpr FieldRule within_type(FieldRule rule) {
  if constexpr (std::integral<Value>) {
    constexpr double most = std::numeric_limits<Value>::max(), exact = 9007199254740991;
    rule.least = std::max(rule.least, 0.0);
    rule.most = std::min({rule.most, most, exact});
  }
  return rule;
}

template <class Object, class Value>
struct Field {
  using ValueType = Value;
  const char* name;
  Value Object::*member;
  FieldRule rule;
};
template <class Object, class Value>
constexpr Field<Object, Value> field(const char* name, Value Object::*member, FieldRule rule = {}) {
  return {name, member, rule};
}

/// An object of the document whose fields are members of the same struct.
template <class List>
struct Part {
  const char* name;
  List list;
};
template <class List>
constexpr Part<List> part(const char* name, List list) {
  return {name, list};
}

template <class... Fields>
struct FieldList {
  const char* name;  ///< of the schema's definition; empty: none of its own
  const char* about;
  std::tuple<Fields...> fields;
};
template <class... Fields>
constexpr FieldList<Fields...> field_list(const char* name, const char* about, Fields... fields) {
  return {name, about, {fields...}};
}

template <class Value>
concept Optional = requires(Value value) {
  value.reset();
};
template <class Value>
concept Vector = requires(Value value) {
  value.emplace_back();
};
template <class Value>
concept Map = requires {
  typename Value::mapped_type;
};

/// The list of a struct; specialised beside each.
template <class Object>
inline constexpr int fields_of = 0;
template <class Object>
concept Listed = !std::same_as<decltype(fields_of<Object>), const int>;

// Lists of members that are named in a document as in their struct; rule_of has their rules. By the
// macro that the JSON library's own lists of members are made with.
#define FATHOM_FIELD(member) , field(#member, &Self::member, rule_of(list, #member))
#define FATHOM_LIST(Type, name, about, ...)                                                        \
  [] {                                                                                             \
    using Self = Type;                                                                             \
    constexpr const char* list = name;                                                             \
    return field_list(list,                                                                        \
                      about NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(FATHOM_FIELD, __VA_ARGS__))); \
  }()
#define FATHOM_FIELDS(Type, name, about, ...) \
  template <>                                 \
  inline constexpr auto fields_of<Type> = FATHOM_LIST(Type, name, about, __VA_ARGS__)

/// The list with some of its fields absent in older documents.
template <class List>
constexpr List with_later(List list, std::initializer_list<std::string_view> names) {
  const auto mark = [&](auto& field) {
    for (const std::string_view name : names)
      if (name == field.name) field.rule.presence = Presence::later;
  };
  std::apply([&](auto&... field) { (mark(field), ...); }, list.fields);
  return list;
}

template <class List, class Visit>
constexpr void for_each_field(const List& list, Visit visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, list.fields);
}

[[noreturn]] inline void refuse_number(double number, bool whole, const FieldRule& limits,
                                       const Place& place) {
  std::string expected = whole ? "a whole number" : "a number";
  for (const auto& [words, limit] :
       {std::pair{"at least", limits.least}, {"above", limits.above}, {"at most", limits.most}})
    if (std::isfinite(limit)) expected += fmt::format(", {} {}", words, limit);
  place.refuse(fmt::format("is {}; expected: {}", number, expected));
}

template <class List, class Object>
void read_list(const List& list, const Fields& fields, Object& to);

/// Reads what write_fields wrote, or an older Fathom. Throws Error(document_malformed) naming the
/// place of the first fault and what was expected there.
template <class Value>
void read_fields(simdjson::dom::element json, const Place& place, const FieldRule& rule,
                 Value& to) {
  if constexpr (Listed<Value>) {
    read_list(fields_of<Value>, Fields(json, place), to);
  } else if constexpr (Optional<Value>) {
    to.reset();
    if (!json.is_null() || rule.presence == Presence::if_set)
      read_fields(json, place, rule, to.emplace());
  } else if constexpr (std::same_as<Value, std::string>) {
    to = text_of(json, place);
    if (rule.not_empty && to.empty()) place.refuse("is \"\"; expected: a string, not empty");
  } else if constexpr (Vector<Value>) {
    to.clear();
    each_of(list_of(json, place), place, [&](simdjson::dom::element item, const Place& at) {
      read_fields(item, at, {}, to.emplace_back());
    });
  } else if constexpr (Map<Value>) {
    const Fields object(json, place);
    for (const auto& [key, item] : object.members())
      read_fields(item, place.at(key), {}, to[std::string(key)]);
  } else if constexpr (std::same_as<Value, AxisValue>) {
    if (json.is_string())
      to = text_of(json, place);
    else if (std::int64_t whole = 0; json.get(whole) == simdjson::SUCCESS)
      to = whole;
    else
      to = number_of(json, place);
  } else if constexpr (std::same_as<Value, bool>) {
    to = truth_of(json, place);
  } else if constexpr (std::is_enum_v<Value>) {
    to = word_of<Value>(json, place);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    const double number = number_of(json, place);
    const FieldRule limits = within_type<Value>(rule);
    const bool fits = number >= limits.least && number > limits.above && number <= limits.most;
    if (!fits || (std::integral<Value> && number != std::floor(number)))
      refuse_number(number, std::integral<Value>, limits, place);
    to = static_cast<Value>(number);
  } else if (!json.is_null()) {  // a number that may be missing
    to = number_of(json, place);
  }
}

template <class List, class Object>
void read_list(const List& list, const Fields& fields, Object& to) {
  for_each_field(list, [&](const auto& item) {
    if constexpr (requires { item.list; })
      read_list(item.list, fields.object(item.name), to);
    else if (item.rule.presence == Presence::required || fields.has(item.name))
      read_fields(fields.member(item.name), fields.place().at(item.name), item.rule,
                  to.*item.member);
  });
}

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
