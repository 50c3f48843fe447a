#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "fleet/fleet.h"
#include "results/fields.h"
#include "results/json_fields.h"
#include "results/parse_number.h"
#include "results/write_fields.h"

namespace fathom {

// The members of gpu.json and links.json, once for their readers and writers (results/fields.h).
// One that may have no value may also be left out.

inline constexpr FieldRule or_absent{.presence = Presence::later};  ///< or null

template <>
inline constexpr auto fields_of<fleet::Health> =
    field_list("", "", field("sm_clock_hz", &fleet::Health::sm_clock_hz),
               field("memory_clock_hz", &fleet::Health::memory_clock_hz),
               field("temperature_c", &fleet::Health::temperature_c),
               field("power_w", &fleet::Health::power_w),
               field("throttle_reasons", &fleet::Health::throttle_reasons),
               field("power_limit_w", &fleet::Health::power_limit_w),
               field("pcie_generation", &fleet::Health::pcie_generation),
               field("pcie_width", &fleet::Health::pcie_width),
               field("uncorrected_ecc_errors", &fleet::Health::uncorrected_ecc_errors),
               field("remapped_rows", &fleet::Health::remapped_rows),
               field("remapping_failed", &fleet::Health::remapping_failed, or_absent),
               field("remapping_pending", &fleet::Health::remapping_pending, or_absent),
               field("other_processes", &fleet::Health::other_processes));

template <>
inline constexpr auto fields_of<fleet::PhaseTimes> = field_list(
    "", "", field("alone", &fleet::PhaseTimes::alone),
    field("together", &fleet::PhaseTimes::together), field("suite", &fleet::PhaseTimes::suite));

// Written by column: a list for each field, of all metrics.
template <>
inline constexpr auto fields_of<fleet::MetricName> = field_list(
    "", "", field("name", &fleet::MetricName::name), field("unit", &fleet::MetricName::unit),
    field("better", &fleet::MetricName::better));

template <>
inline constexpr auto fields_of<fleet::MetricFigures> =
    field_list("", "", field("alone", &fleet::MetricFigures::alone),
               field("together", &fleet::MetricFigures::together),
               field("noise", &fleet::MetricFigures::noise),
               field("sm_clock_hz", &fleet::MetricFigures::sm_clock_hz));

/// Without the metrics: as fleet.json has it.
template <>
inline constexpr auto fields_of<fleet::GpuSummary> = field_list(
    "", "", field("host", &fleet::GpuSummary::host), field("gpu", &fleet::GpuSummary::gpu),
    field("rank", &fleet::GpuSummary::rank), field("gpu_name", &fleet::GpuSummary::gpu_name),
    field("uuid_hash", &fleet::GpuSummary::uuid_hash), field("model", &fleet::GpuSummary::model),
    field("run", &fleet::GpuSummary::run, or_absent), field("date", &fleet::GpuSummary::date),
    field("suite", &fleet::GpuSummary::suite), field("source", &fleet::GpuSummary::source),
    field("status", &fleet::GpuSummary::status), field("reason", &fleet::GpuSummary::reason),
    field("exit_code", &fleet::GpuSummary::exit_code),
    field("no_counters", &fleet::GpuSummary::no_counters, or_absent),
    field("counters_of", &fleet::GpuSummary::counters_of, or_absent),
    field("settings", &fleet::GpuSummary::settings), field("health", &fleet::GpuSummary::health),
    field("elapsed_s", &fleet::GpuSummary::elapsed_s));

template <>
inline constexpr auto fields_of<fleet::MissingFigure> = field_list(
    "", "", field("metric", &fleet::MissingFigure::figure),
    field("when", &fleet::MissingFigure::when), field("reason", &fleet::MissingFigure::reason));

template <>
inline constexpr auto fields_of<fleet::Problem> = field_list(
    "", "", field("what", &fleet::Problem::what), field("reason", &fleet::Problem::reason),
    field("exit_code", &fleet::Problem::exit_code));

template <>
inline constexpr auto fields_of<fleet::LinkFact> = field_list(
    "", "", field("id", &fleet::LinkFact::id), field("subject", &fleet::LinkFact::subject),
    field("quantity", &fleet::LinkFact::quantity), field("unit", &fleet::LinkFact::unit),
    field("better", &fleet::LinkFact::better), field("value", &fleet::LinkFact::value),
    field("bound", &fleet::LinkFact::bound), field("bound_source", &fleet::LinkFact::bound_source),
    field("reason", &fleet::LinkFact::reason));

template <>
inline constexpr auto fields_of<fleet::LinkKind> = field_list(
    "", "", field("engine", &fleet::LinkKind::engine),
    field("direction", &fleet::LinkKind::direction), field("unit", &fleet::LinkKind::unit));

template <>
inline constexpr auto fields_of<fleet::LinkPair> =
    field_list("", "", field("kind", &fleet::LinkPair::kind), field("from", &fleet::LinkPair::from),
               field("to", &fleet::LinkPair::to), field("value", &fleet::LinkPair::value),
               field("bound", &fleet::LinkPair::bound));

template <>
inline constexpr auto fields_of<fleet::HostLinks> =
    field_list("", "", field("host", &fleet::HostLinks::host), field("run", &fleet::HostLinks::run),
               field("facts", &fleet::HostLinks::facts), field("kinds", &fleet::HostLinks::kinds),
               field("pairs", &fleet::HostLinks::pairs));

namespace fleet {

/// The shortest number that gives the figure back: as a double it would have seventeen digits.
inline void to_json(nlohmann::ordered_json& json, const Reading& figure) {
  json = nullptr;
  if (figure) json = *parse_number<double>(fmt::format("{}", static_cast<float>(*figure)));
}

template <class Object>
void read_members(const Fields& fields, Object& to);

template <class Value>
void read_value(simdjson::dom::element value, const Place& place, Value& to) {
  if constexpr (Listed<Value>) {
    read_members(Fields(value, place), to);
  } else if constexpr (is_vector<Value>) {
    each_of(list_of(value, place), place, [&](simdjson::dom::element item, const Place& at) {
      read_value(item, at, to.emplace_back());
    });
  } else if constexpr (is_map<Value>) {
    const Fields members(value, place);
    for (const auto& [key, item] : members.members())
      read_value(item, place.at(key), to[std::string(key)]);
  } else if constexpr (is_optional<Value>) {
    read_value(value, place, to.emplace());
  } else if constexpr (std::same_as<Value, Reading>) {
    if (!value.is_null()) to = number_of(value, place);
  } else if constexpr (std::same_as<Value, std::string>) {
    to = text_of(value, place);
  } else if constexpr (std::same_as<Value, bool>) {
    to = truth_of(value, place);
  } else if constexpr (std::is_enum_v<Value>) {
    const auto known = from_string<Value>(text_of(value, place));
    if (!known)
      place.refuse(fmt::format("is none of \"{}\"", fmt::join(enum_words<Value>, "\", \"")));
    to = *known;
  } else if constexpr (std::integral<Value>) {
    constexpr double largest_count = 1e9;
    const double count = number_of(value, place);
    if (!(count >= 0 && count <= largest_count) || count != std::floor(count))
      place.refuse("is no count");
    to = static_cast<Value>(count);
  } else {
    to = number_of(value, place);
  }
}

template <class Object>
void read_members(const Fields& fields, Object& to) {
  for_each_field(fields_of<Object>, [&]<class Value>(const Field<Object, Value>& field) {
    constexpr bool has_none = is_optional<Value> || std::same_as<Value, Reading>;
    const bool may_lack = has_none || field.rule.presence == Presence::later;
    if (may_lack && (!fields.has(field.name) || fields.member(field.name).is_null())) return;
    read_value(fields.member(field.name), fields.place().at(field.name), to.*field.member);
  });
}

/// Throws Error(document_version) unless the document's member `key` has this version of `what`.
void require_version(const Fields& own, std::string_view key, int expected, const char* what);

}  // namespace fleet
}  // namespace fathom
