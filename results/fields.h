#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "results/document.h"
#include "results/text.h"

namespace fathom {

// Strict JSON, read with places and checked types.

/// Where in a JSON text a value is; paths are put together only for an error.
struct Place {
  const std::string* origin;
  const Place* parent = nullptr;
  std::string_view key{};
  std::optional<std::size_t> index{};

  Place at(std::string_view name) const { return {origin, this, name, std::nullopt}; }
  Place at(std::size_t position) const { return {origin, this, {}, position}; }
  std::string path() const;
  /// Throws Error(document_malformed): "<origin>: <path> <what>."
  [[noreturn]] void refuse(const std::string& what) const;
};

/// The text, which must be a time in UTC that a clock may have shown, else it is refused.
std::string date_of(std::string text, const Place& place);

/// One strict JSON text, parsed; the elements that come out of it live as long as it does. Hostile
/// input costs time and memory in proportion to its size: nesting deeper than 64 levels is refused.
/// Throws Error(document_malformed) naming `origin`, the fault with its line and column, and
/// `expected`, what the text should be. A byte order mark before it is passed over.
class ParsedJson {
 public:
  ParsedJson(std::string_view text, const std::string& origin,
             const std::string& expected = "a result document");
  simdjson::dom::element root() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

/// The value of a strict JSON text. Throws as ParsedJson does.
nlohmann::json parse_strict_json(std::string_view text, const std::string& origin,
                                 const std::string& expected = "a result document");

/// Refuses a value as one of another kind.
[[noreturn]] void refuse_kind(simdjson::dom::element value, const Place& place,
                              const char* expected);

/// The value as one of simdjson's types, or its refusal.
template <typename Value>
Value typed(simdjson::dom::element value, const Place& place, const char* expected) {
  Value result{};
  if (value.get<Value>().get(result) != simdjson::SUCCESS) refuse_kind(value, place, expected);
  return result;
}
inline std::string text_of(simdjson::dom::element value, const Place& place) {
  return std::string(typed<std::string_view>(value, place, "a string"));
}
inline double number_of(simdjson::dom::element value, const Place& place) {
  return typed<double>(value, place, "a number");
}
inline simdjson::dom::array list_of(simdjson::dom::element value, const Place& place) {
  return typed<simdjson::dom::array>(value, place, "an array");
}

/// Hands on each element of a list with its place.
template <typename Use>
void each_of(simdjson::dom::array list, const Place& place, Use use) {
  std::size_t index = 0;
  for (const simdjson::dom::element element : list) use(element, place.at(index++));
}

enum class Presence {
  required,
  later,   ///< absent in older documents; always written
  if_set,  ///< absent, rather than null, where there is no value
};

/// What a field's name and type do not say.
struct FieldRule {
  const char* about = "";
  Presence presence = Presence::required;
};

/// Reads what write_fields wrote, or an older Fathom. Throws Error(document_malformed) naming the
/// place of the first fault and what was expected there.
template <class Value>
void read_fields(simdjson::dom::element json, const Place& place, const FieldRule& rule, Value& to);

/// A JSON object's members with checked types. Refuses a key that is there twice.
class Fields {
 public:
  /// The places above `place` must outlive this, so the object that it is a member of as well.
  Fields(simdjson::dom::element value, const Place& place);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  bool has(std::string_view key) const { return find(key).has_value(); }
  const Place& place() const { return place_; }
  simdjson::dom::object members() const { return members_; }

  simdjson::dom::element member(std::string_view key) const;
  template <class Value>
  Value get(std::string_view key) const {
    Value value{};
    read_fields(member(key), place_.at(key), {}, value);
    return value;
  }
  std::string text(std::string_view key) const { return get<std::string>(key); }
  double number(std::string_view key) const { return get<double>(key); }
  std::string text_or(std::string_view key, std::string otherwise) const {
    return is_set(key) ? text(key) : std::move(otherwise);
  }
  bool truth_or(std::string_view key, bool otherwise) const {
    return has(key) ? get<bool>(key) : otherwise;
  }
  /// Nothing for a member that is null or not there.
  std::optional<double> optional_number(std::string_view key) const {
    return is_set(key) ? std::optional(number(key)) : std::nullopt;
  }
  simdjson::dom::array list(std::string_view key) const {
    return list_of(member(key), place_.at(key));
  }
  Fields object(std::string_view key) const { return {member(key), place_.at(key)}; }
  /// Hands on each element of a list of objects as its fields.
  template <typename Use>
  void each(std::string_view key, Use use) const {
    each_of(list(key), place_.at(key),
            [&](auto element, const Place& at) { use(Fields(element, at)); });
  }
  /// Refuses a member that is there and no good: "<origin>: <path> <what>".
  [[noreturn]] void refuse(std::string_view key, const std::string& what) const {
    place_.at(key).refuse(what);
  }

 private:
  std::optional<simdjson::dom::element> find(std::string_view key) const;
  bool is_set(std::string_view key) const { return has(key) && !find(key)->is_null(); }

  Place place_;
  simdjson::dom::object members_;
};

/// Throws Error(document_version) unless a document's member `key` says this version of `what`.
void require_version(const Fields& own, std::string_view key, int expected, const char* what);

// The fields of a struct as a list that its reader, its writer and its schema walk.
// document_fields.h has the lists of the result document.

template <class Object, class Value>
constexpr auto field(const char* name, Value Object::*member, FieldRule rule = {}) {
  struct Field {
    const char* name;
    Value Object::*member;
    FieldRule rule;
  };
  return Field{name, member, rule};
}

/// An object of the document whose fields are members of the same struct.
template <class List>
constexpr auto part(const char* name, List list) {
  struct Part {
    const char* name;
    List list;
  };
  return Part{name, list};
}

/// `name` is of the schema's definition; empty: none of its own.
template <class... Fields>
constexpr auto field_list(const char* name, const char* about, Fields... fields) {
  struct List {
    const char *name, *about;
    std::tuple<Fields...> fields;
  };
  return List{name, about, {fields...}};
}

/// The list of a struct; specialised beside each.
template <class Object>
inline constexpr int fields_of = 0;

template <class Value>
concept Listed = !std::same_as<decltype(fields_of<Value>), const int>;
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
    if (std::ranges::count(names, std::string_view(field.name)) > 0)
      field.rule.presence = Presence::later;
  };
  std::apply([&](auto&... field) { (mark(field), ...); }, list.fields);
  return list;
}

template <class List, class Visit>
constexpr void for_each_field(const List& list, Visit visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, list.fields);
}

/// Whole numbers are from 0 to what fits in their type, and in what JSON's readers agree on.
template <std::integral Value>
inline constexpr double most_of = std::min<double>(std::numeric_limits<Value>::max(),
                                                   9007199254740991);

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
    to = typed<bool>(json, place, "true or false");
  } else if constexpr (std::is_enum_v<Value>) {
    const std::string word = text_of(json, place);
    const auto known = from_string<Value>(word);
    if (!known)
      place.refuse(fmt::format("is \"{}\"; expected: one of \"{}\"", quotable(word),
                               fmt::join(enum_words<Value>, "\", \"")));
    to = *known;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    const double number = number_of(json, place);
    if constexpr (std::integral<Value>)
      if (!(number >= 0 && number <= most_of<Value> && number == std::floor(number)))
        place.refuse(fmt::format("is {}; expected: a whole number from 0 to {:.0f}", number,
                                 most_of<Value>));
    to = static_cast<Value>(number);
  } else if (!json.is_null()) {  // a number that may be missing
    to = number_of(json, place);
  }
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
      nlohmann::ordered_json value = write_fields(object.*field.member);
      if (!value.is_null() || field.rule.presence != Presence::if_set)
        json[field.name] = std::move(value);
    }
  });
  return json;
}

}  // namespace fathom
