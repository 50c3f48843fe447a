#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/names.h"
#include "results/strict_json.h"
#include "results/text.h"

namespace fathom {

const char* kind_of(simdjson::dom::element value);

/// The value as one of simdjson's types, or its refusal.
template <typename Value>
Value typed(simdjson::dom::element value, const Place& place, const char* expected) {
  Value result{};
  if (value.get<Value>().get(result) != simdjson::SUCCESS)
    place.refuse(fmt::format("is {}; expected: {}", kind_of(value), expected));
  return result;
}
inline std::string text_of(simdjson::dom::element value, const Place& place) {
  return std::string(typed<std::string_view>(value, place, "a string"));
}
inline double number_of(simdjson::dom::element value, const Place& place) {
  return typed<double>(value, place, "a number");
}
inline bool truth_of(simdjson::dom::element value, const Place& place) {
  return typed<bool>(value, place, "true or false");
}
inline simdjson::dom::array list_of(simdjson::dom::element value, const Place& place) {
  return typed<simdjson::dom::array>(value, place, "an array");
}
/// The value of an enumeration that a word stands for.
template <typename Enum>
Enum word_of(simdjson::dom::element value, const Place& place) {
  const std::string word = text_of(value, place);
  if (const auto known = from_string<Enum>(word)) return *known;
  place.refuse(fmt::format("is \"{}\"; expected: one of \"{}\"", quotable(word),
                           fmt::join(enum_words<Enum>, "\", \"")));
}

/// Hands on each element of a list with its place.
template <typename Use>
void each_of(simdjson::dom::array list, const Place& place, Use use) {
  std::size_t index = 0;
  for (const simdjson::dom::element element : list) use(element, place.at(index++));
}

/// A JSON object's members with checked types. Refuses a key that is there twice and more keys than
/// any result has.
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
  std::string text(std::string_view key) const { return text_of(member(key), place_.at(key)); }
  double number(std::string_view key) const { return number_of(member(key), place_.at(key)); }
  simdjson::dom::array list(std::string_view key) const {
    return list_of(member(key), place_.at(key));
  }
  template <typename Enum>
  Enum word(std::string_view key) const {
    return word_of<Enum>(member(key), place_.at(key));
  }
  std::string text_or(std::string_view key, std::string otherwise) const {
    return is_set(key) ? text(key) : std::move(otherwise);
  }
  bool truth_or(std::string_view key, bool otherwise) const {
    return has(key) ? truth_of(member(key), place_.at(key)) : otherwise;
  }
  /// Nothing for a member that is null or not there.
  std::optional<double> optional_number(std::string_view key) const {
    return is_set(key) ? std::optional(number(key)) : std::nullopt;
  }
  Fields object(std::string_view key) const { return {member(key), place_.at(key)}; }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> all;
    each_of(list(key), place_.at(key),
            [&](auto element, const Place& at) { all.push_back(text_of(element, at)); });
    return all;
  }
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

/// One strict JSON text, parsed; the elements that come out of it live as long as it does. Hostile
/// input costs time and memory in proportion to its size: nesting deeper than 64 levels is refused,
/// and Fields refuses an object with a repeated key or more than 1,000 keys. Throws
/// Error(document_malformed) naming `origin`, the fault with its line and column, and `expected`,
/// what the text should be. A byte order mark before it is passed over.
class ParsedJson {
 public:
  ParsedJson(std::string_view text, const std::string& origin,
             const std::string& expected = "a result document");
  simdjson::dom::element root() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

}  // namespace fathom
