#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "results/fields.h"
#include "results/json_fields.h"

namespace fathom {

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

}  // namespace fathom
