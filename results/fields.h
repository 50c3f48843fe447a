#pragma once

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

namespace fathom {

// The fields of a struct as a list that its reader, its writer and its schema walk
// (document_from_json.cpp, write_fields.h, schema_fields.h). document_fields.h has the lists of the
// result document.

enum class Presence {
  required,
  later,   ///< absent in older documents; always written
  if_set,  ///< absent, rather than null, where there is no value
};

inline constexpr double no_limit = -std::numeric_limits<double>::infinity();

/// What a value must keep to beside its type, which has its own: whole numbers are not below 0.
struct FieldRule {
  Presence presence = Presence::required;
  double least = no_limit, above = no_limit, most = -no_limit;
  bool not_empty = false;
  const char* about = "";
};

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

/// Written for other programs, and checked but not read: it follows from the rest.
template <class Object, class Value>
struct Derived {
  using ValueType = Value;
  const char* name;
  Value (*value)(const Object&);
  FieldRule rule;
};
template <class Object, class Value>
constexpr Derived<Object, Value> derived(const char* name, Value (*value)(const Object&),
                                         FieldRule rule = {}) {
  return {name, value, rule};
}

/// The one value that there is.
template <class Value>
struct Constant {
  const char* name;
  Value value;
  FieldRule rule;
};
template <class Value>
constexpr Constant<Value> constant(const char* name, Value value, FieldRule rule = {}) {
  return {name, value, rule};
}

/// Further members for other programs, which the schema does not name.
template <class Object>
struct Further {
  void (*add)(const Object&, nlohmann::ordered_json&);
};
template <class Object>
constexpr Further<Object> further(void (*add)(const Object&, nlohmann::ordered_json&)) {
  return {add};
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

/// The list of a struct; specialised beside each.
template <class Object>
inline constexpr int fields_of = 0;
template <class Object>
concept Listed = !std::same_as<decltype(fields_of<Object>), const int>;

// Lists of members that are named in a document as in their struct; rule_of has their rules. By the
// macro that the JSON library's own lists of members are made with.
#define FATHOM_FIELD(member) , field(#member, &Self::member, rule_of(list, #member))
#define FATHOM_LIST(Type, name, about, ...)                                              \
  [] {                                                                                   \
    using Self = Type;                                                                   \
    constexpr const char* list = name;                                                   \
    return field_list(                                                                   \
        list, about NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(FATHOM_FIELD, __VA_ARGS__))); \
  }()
#define FATHOM_FIELDS(Type, name, about, ...) \
  template <>                                 \
  inline constexpr auto fields_of<Type> = FATHOM_LIST(Type, name, about, __VA_ARGS__)

template <class List, class Visit>
constexpr void for_each_field(const List& list, Visit visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, list.fields);
}

}  // namespace fathom
