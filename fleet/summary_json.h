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

namespace fleet {

inline constexpr FieldRule or_absent{.presence = Presence::later};  ///< or null

inline constexpr auto health_fields = field_list(
    "", "", field("sm_clock_hz", &Health::sm_clock_hz),
    field("memory_clock_hz", &Health::memory_clock_hz),
    field("temperature_c", &Health::temperature_c), field("power_w", &Health::power_w),
    field("throttle_reasons", &Health::throttle_reasons),
    field("power_limit_w", &Health::power_limit_w),
    field("pcie_generation", &Health::pcie_generation), field("pcie_width", &Health::pcie_width),
    field("uncorrected_ecc_errors", &Health::uncorrected_ecc_errors),
    field("remapped_rows", &Health::remapped_rows),
    field("remapping_failed", &Health::remapping_failed, or_absent),
    field("remapping_pending", &Health::remapping_pending, or_absent),
    field("other_processes", &Health::other_processes));

inline constexpr auto time_fields =
    field_list("", "", field("alone", &PhaseTimes::alone), field("together", &PhaseTimes::together),
               field("suite", &PhaseTimes::suite));

// Written by column: a list for each field, of all metrics.
inline constexpr auto name_fields =
    field_list("", "", field("name", &MetricName::name), field("unit", &MetricName::unit),
               field("better", &MetricName::better));

inline constexpr auto figure_fields = field_list(
    "", "", field("alone", &MetricFigures::alone), field("together", &MetricFigures::together),
    field("noise", &MetricFigures::noise), field("sm_clock_hz", &MetricFigures::sm_clock_hz));

/// Without the metrics: as fleet.json has it.
inline constexpr auto summary_fields =
    field_list("", "", field("host", &GpuSummary::host), field("gpu", &GpuSummary::gpu),
               field("rank", &GpuSummary::rank), field("gpu_name", &GpuSummary::gpu_name),
               field("uuid_hash", &GpuSummary::uuid_hash), field("model", &GpuSummary::model),
               field("run", &GpuSummary::run, or_absent), field("date", &GpuSummary::date),
               field("suite", &GpuSummary::suite), field("source", &GpuSummary::source),
               field("status", &GpuSummary::status), field("reason", &GpuSummary::reason),
               field("exit_code", &GpuSummary::exit_code),
               field("no_counters", &GpuSummary::no_counters, or_absent),
               field("counters_of", &GpuSummary::counters_of, or_absent),
               field("settings", &GpuSummary::settings), field("health", &GpuSummary::health),
               field("elapsed_s", &GpuSummary::elapsed_s));

inline constexpr auto missing_fields = field_list(
    "", "", field("metric", &MissingFigure::figure), field("when", &MissingFigure::when),
    field("reason", &MissingFigure::reason));

inline constexpr auto problem_fields =
    field_list("", "", field("what", &Problem::what), field("reason", &Problem::reason),
               field("exit_code", &Problem::exit_code));

inline constexpr auto fact_fields =
    field_list("", "", field("id", &LinkFact::id), field("subject", &LinkFact::subject),
               field("quantity", &LinkFact::quantity), field("unit", &LinkFact::unit),
               field("better", &LinkFact::better), field("value", &LinkFact::value),
               field("bound", &LinkFact::bound), field("bound_source", &LinkFact::bound_source),
               field("reason", &LinkFact::reason));

inline constexpr auto kind_fields =
    field_list("", "", field("engine", &LinkKind::engine), field("direction", &LinkKind::direction),
               field("unit", &LinkKind::unit));

inline constexpr auto pair_fields = field_list(
    "", "", field("kind", &LinkPair::kind), field("from", &LinkPair::from),
    field("to", &LinkPair::to), field("value", &LinkPair::value), field("bound", &LinkPair::bound));

inline constexpr auto links_fields =
    field_list("", "", field("host", &HostLinks::host), field("run", &HostLinks::run),
               field("facts", &HostLinks::facts), field("kinds", &HostLinks::kinds),
               field("pairs", &HostLinks::pairs));

}  // namespace fleet

template <>
inline constexpr auto fields_of<fleet::Health> = fleet::health_fields;
template <>
inline constexpr auto fields_of<fleet::PhaseTimes> = fleet::time_fields;
template <>
inline constexpr auto fields_of<fleet::MetricName> = fleet::name_fields;
template <>
inline constexpr auto fields_of<fleet::MetricFigures> = fleet::figure_fields;
template <>
inline constexpr auto fields_of<fleet::GpuSummary> = fleet::summary_fields;
template <>
inline constexpr auto fields_of<fleet::MissingFigure> = fleet::missing_fields;
template <>
inline constexpr auto fields_of<fleet::Problem> = fleet::problem_fields;
template <>
inline constexpr auto fields_of<fleet::LinkFact> = fleet::fact_fields;
template <>
inline constexpr auto fields_of<fleet::LinkKind> = fleet::kind_fields;
template <>
inline constexpr auto fields_of<fleet::LinkPair> = fleet::pair_fields;
template <>
inline constexpr auto fields_of<fleet::HostLinks> = fleet::links_fields;

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
