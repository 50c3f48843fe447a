#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "results/clean_text.h"
#include "results/fields.h"
#include "results/json_fields.h"
#include "results/names.h"

namespace fathom {

[[noreturn]] inline void refuse_number(double number, bool whole, const FieldRule& limits,
                                       const Place& place) {
  std::string expected = whole ? "a whole number" : "a number";
  if (std::isfinite(limits.least)) expected += fmt::format(", at least {}", limits.least);
  if (std::isfinite(limits.above)) expected += fmt::format(", above {}", limits.above);
  if (std::isfinite(limits.most)) expected += fmt::format(", at most {}", limits.most);
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
  } else if constexpr (is_optional<Value>) {
    to.reset();
    if (!json.is_null() || rule.presence == Presence::if_set)
      read_fields(json, place, rule, to.emplace());
  } else if constexpr (is_vector<Value>) {
    to.clear();
    each_of(list_of(json, place), place, [&](simdjson::dom::element item, const Place& at) {
      read_fields(item, at, {}, to.emplace_back());
    });
  } else if constexpr (is_map<Value>) {
    const Fields members(json, place);
    for (const auto& [key, item] : members.members())
      read_fields(item, place.at(key), {}, to[std::string(key)]);
  } else if constexpr (std::same_as<Value, AxisValue>) {
    std::int64_t whole = 0;
    if (json.is_string())
      to = text_of(json, place);
    else if (json.get(whole) == simdjson::SUCCESS)
      to = whole;
    else
      to = number_of(json, place);
  } else if constexpr (std::same_as<Value, std::string>) {
    to = text_of(json, place);
    if (rule.not_empty && to.empty()) place.refuse("is \"\"; expected: a string, not empty");
  } else if constexpr (std::same_as<Value, bool>) {
    to = truth_of(json, place);
  } else if constexpr (std::is_enum_v<Value>) {
    const std::string word = text_of(json, place);
    const auto known = from_string<Value>(word);
    if (!known)
      place.refuse(fmt::format("is \"{}\"; expected: one of \"{}\"", quotable(word),
                               fmt::join(enum_words<Value>, "\", \"")));
    to = *known;
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
  for_each_field(list, [&]<class Item>(const Item& item) {
    if constexpr (requires { item.name; }) {
      if constexpr (requires { item.rule; })
        if (item.rule.presence != Presence::required && !fields.has(item.name)) return;
      const simdjson::dom::element found = fields.member(item.name);
      const Place at = fields.place().at(item.name);
      if constexpr (requires { item.list; }) {
        read_list(item.list, Fields(found, at), to);
      } else if constexpr (requires { item.member; }) {
        read_fields(found, at, item.rule, to.*item.member);
      } else if constexpr (requires { typename Item::ValueType; }) {
        typename Item::ValueType checked{};
        read_fields(found, at, item.rule, checked);
      } else {
        std::conditional_t<std::is_arithmetic_v<decltype(item.value)>, double, std::string> value;
        read_fields(found, at, {}, value);
        if (value != item.value)
          at.refuse(
              fmt::format("is {}; expected: {}", quotable(fmt::to_string(value)), item.value));
      }
    }
  });
}

}  // namespace fathom
