#pragma once

#include <algorithm>
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
#include <vector>

namespace fathom {

// The fields of a struct as a list that its reader, its writer and its schema walk
// (read_fields.h, write_fields.h, document_to_json.cpp). document_fields.h has the lists of the
// result document.

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

}  // namespace fathom
