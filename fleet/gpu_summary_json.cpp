#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fleet/gpu_summary.h"
#include "fleet/summary_json.h"
#include "results/clean_text.h"
#include "results/document_io.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::ordered_json;

/// More than any result has.
constexpr std::size_t most_metrics = 100'000;

template <class Row>
void write_columns(Json& json, const std::vector<Row>& rows) {
  for_each_field(fields_of<Row>, [&](const auto& field) {
    Json& column = json[field.name] = Json::array();
    for (const Row& row : rows) column.push_back(write_fields(row.*field.member));
  });
}

template <class Row>
void read_columns(const Fields& columns, std::vector<Row>& rows) {
  for_each_field(fields_of<Row>, [&](const auto& field) {
    const Place place = columns.place().at(field.name);
    const simdjson::dom::array values = columns.list(field.name);
    if (values.size() != rows.size())
      place.refuse(fmt::format("has {} values; expected: {}, one for each name", values.size(),
                               rows.size()));
    std::size_t row = 0;
    for (const simdjson::dom::element value : values) {
      read_fields(value, place.at(row), field.rule, rows[row].*field.member);
      ++row;
    }
  });
}

void read_metrics(const Fields& metrics, GpuSummary& summary) {
  const Place names = metrics.place().at("name");
  const std::size_t size = metrics.list("name").size();
  if (size > most_metrics) names.refuse("has more metrics than any result");
  summary.names.resize(size);
  summary.figures.resize(size);
  read_columns(metrics, summary.names);
  read_columns(metrics, summary.figures);
  std::unordered_set<std::string_view> known;
  for (const MetricName& metric : summary.names)
    if (!known.insert(metric.name).second)
      names.refuse(
          fmt::format("has \"{}\" twice; each metric may be there once", quotable(metric.name)));
}

}  // namespace

std::string to_text(const GpuSummary& s) {
  Json json{{std::string(summary_key), summary_version}};
  json.update(write_fields(s));
  write_columns(json["metrics"], s.names);
  write_columns(json["metrics"], s.figures);
  return fathom::to_text(json);
}

void require_date(const GpuSummary& summary, const std::string& origin) {
  // A GPU that failed before anything was measured has none.
  if (!summary.names.empty() || !summary.date.empty())
    date_of(summary.date, Place{&origin}.at("date"));
}

GpuSummary parse_summary(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  const Place place{&origin};
  const Fields own(json.root(), place);
  require_version(own, summary_key, summary_version, "a GPU's summary");
  GpuSummary s;
  read_list(fields_of<GpuSummary>, own, s);
  read_metrics(own.object("metrics"), s);
  require_date(s, origin);
  return s;
}

}  // namespace fathom::fleet
