#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fleet/gpu_summary.h"
#include "fleet/summary_json.h"
#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/json_values.h"
#include "results/names.h"
#include "results/utc_time.h"

namespace fathom::fleet {
namespace {

namespace dom = simdjson::dom;
using Json = nlohmann::ordered_json;

/// More than any result has.
constexpr std::size_t most_metrics = 100'000;

/// The shortest number that gives the figure back: as a double it would have seventeen digits.
Json number(const Reading& figure) {
  if (!figure) return nullptr;
  std::array<char, 32> text{};
  const auto written =
      fmt::format_to_n(text.data(), text.size(), "{}", static_cast<float>(*figure));
  double value = 0;
  std::from_chars(text.data(), written.out, value);
  return value;
}

template <class Value>
Json column(const std::vector<Value>& values, auto member) {
  Json all = Json::array();
  for (const Value& value : values) all.push_back(std::invoke(member, value));
  return all;
}

constexpr std::pair<const char*, Reading MetricFigures::*> figure_columns[] = {
    {"alone", &MetricFigures::alone},
    {"together", &MetricFigures::together},
    {"noise", &MetricFigures::noise},
    {"sm_clock_hz", &MetricFigures::sm_clock_hz}};

void read_metrics(const Fields& own, GpuSummary& summary) {
  const Fields f = own.object("metrics");
  const Place names = f.place().at("name");
  for (std::string& name : f.texts("name"))
    summary.names.push_back({std::move(name), "", Better::higher});
  const std::size_t size = summary.names.size();
  if (size > most_metrics) names.refuse("has more metrics than any result");
  std::unordered_set<std::string_view> known;
  for (const MetricName& metric : summary.names)
    if (!known.insert(metric.name).second)
      names.refuse(
          fmt::format("has \"{}\" twice; each metric may be there once", quotable(metric.name)));
  const auto each = [&](std::string_view key, auto read) {
    const Place place = f.place().at(key);
    std::size_t i = 0;
    for (const dom::element value : f.list(key)) {
      if (i == size) break;
      read(i++, value, place);
    }
    if (i != size || f.list(key).size() != size)
      place.refuse(fmt::format("has not as many as \"name\", which has {}", size));
  };
  each("unit", [&](std::size_t i, dom::element value, const Place& place) {
    summary.names[i].unit = text_of(value, place);
  });
  each("better", [&](std::size_t i, dom::element value, const Place& place) {
    const auto better = from_string<Better>(text_of(value, place));
    if (!better) place.refuse("has one that is none of \"higher\", \"lower\"");
    summary.names[i].better = *better;
  });
  summary.figures.resize(size);
  for (const auto& [key, figure] : figure_columns)
    each(key, [&, figure = figure](std::size_t i, dom::element value, const Place& place) {
      if (!value.is_null()) summary.figures[i].*figure = number_of(value, place);
    });
}

}  // namespace

std::string to_text(const GpuSummary& s) {
  Json json{{std::string(summary_key), summary_version}};
  json.update(write_fields(s));
  json["metrics"] = {
      {"name", column(s.names, &MetricName::name)},
      {"unit", column(s.names, &MetricName::unit)},
      {"better", column(s.names, [](const MetricName& m) { return to_string(m.better); })}};
  for (const auto& [key, figure] : figure_columns)
    json["metrics"][key] = column(s.figures, [figure = figure](const MetricFigures& figures) {
      return number(figures.*figure);
    });
  return fathom::to_text(json);
}

void require_version(const Fields& own, std::string_view key, int expected, const char* what) {
  const double version = own.number(key);
  if (version != expected)
    fail(ExitCode::document_version,
         "{}: is of version {} of {}, and this Fathom reads version {}: use the Fathom that wrote "
         "it, or measure again.",
         *own.place().origin, version, what, expected);
}

void require_date(const GpuSummary& summary, const std::string& origin) {
  // A GPU that failed before anything was measured has none.
  if (summary.names.empty() && summary.date.empty()) return;
  if (!is_utc_time(summary.date))
    fail(ExitCode::document_malformed,
         "{}: its date, \"{}\", is none; expected: one such as 2026-01-31T12:00:00Z.", origin,
         quotable(summary.date));
}

GpuSummary parse_summary(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  const Place place{&origin};
  const Fields own(json.root(), place);
  require_version(own, summary_key, summary_version, "a GPU's summary");
  GpuSummary s;
  read_members(own, s);
  read_metrics(own, s);
  require_date(s, origin);
  return s;
}

}  // namespace fathom::fleet
