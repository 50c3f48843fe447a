#pragma once

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/json_place.h"
#include "results/names.h"

namespace fathom {

using Place = JsonPlace;

std::string text_of(simdjson::dom::element value, const Place& place);
double number_of(simdjson::dom::element value, const Place& place);
bool truth_of(simdjson::dom::element value, const Place& place);
simdjson::dom::array list_of(simdjson::dom::element value, const Place& place);

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

  bool has(std::string_view key) const { return find(key) != nullptr; }
  const Place& place() const { return place_; }
  const auto& members() const { return members_; }

  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string otherwise) const;
  double number(std::string_view key) const;
  bool truth_or(std::string_view key, bool otherwise) const;
  /// Nothing for a member that is null or not there.
  std::optional<double> optional_number(std::string_view key) const;
  simdjson::dom::element member(std::string_view key) const;
  simdjson::dom::array list(std::string_view key) const;
  Fields object(std::string_view key) const { return {member(key), place_.at(key)}; }
  std::vector<std::string> texts(std::string_view key) const;
  /// Hands on each element of a list of objects as its fields.
  template <typename Use>
  void each(std::string_view key, Use use) const {
    each_of(list(key), place_.at(key),
            [&](simdjson::dom::element element, const Place& at) { use(Fields(element, at)); });
  }
  /// Refuses a member that is there and no good: "<origin>: <path> <what>".
  [[noreturn]] void refuse(std::string_view key, const std::string& what) const {
    place_.at(key).refuse(what);
  }

 private:
  const simdjson::dom::element* find(std::string_view key) const;

  Place place_;
  std::vector<std::pair<std::string_view, simdjson::dom::element>> members_;
};

/// The value that a member's word stands for; `expected` names them all.
template <typename Enum>
Enum word_of(const Fields& fields, std::string_view key, const std::string& expected) {
  const auto value = from_string<Enum>(fields.text(key));
  if (!value) fields.refuse(key, "is none of " + expected);
  return *value;
}

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
