// gpu.json, links.json and fleet.json: the members of each, once for its reader and its writer.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fleet/fleet.h"
#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/fields.h"
#include "results/text.h"

namespace fathom {

template <>
inline constexpr auto fields_of<fleet::Health> =
    with_later(FATHOM_LIST(fleet::Health, "", "", sm_clock_hz, memory_clock_hz, temperature_c,
                           power_w, throttle_reasons, power_limit_w, pcie_generation, pcie_width,
                           uncorrected_ecc_errors, remapped_rows, remapping_failed,
                           remapping_pending, other_processes),
               {"remapping_failed", "remapping_pending"});
FATHOM_FIELDS(fleet::PhaseTimes, "", "", alone, together, suite);

// Written by column: a list for each field, of all metrics.
FATHOM_FIELDS(fleet::MetricName, "", "", name, unit, better);
FATHOM_FIELDS(fleet::MetricFigures, "", "", alone, together, noise, sm_clock_hz);

/// Without the metrics: as fleet.json has it.
template <>
inline constexpr auto fields_of<fleet::GpuSummary> =
    with_later(FATHOM_LIST(fleet::GpuSummary, "", "", host, gpu, rank, gpu_name, uuid_hash, model,
                           run, date, suite, source, status, reason, exit_code, no_counters,
                           counters_of, settings, health, elapsed_s),
               {"run", "no_counters", "counters_of"});

template <>
inline constexpr auto fields_of<fleet::MissingFigure> = field_list(
    "", "", field("metric", &fleet::MissingFigure::figure),
    field("when", &fleet::MissingFigure::when), field("reason", &fleet::MissingFigure::reason));
FATHOM_FIELDS(fleet::Problem, "", "", what, reason, exit_code);
FATHOM_FIELDS(fleet::LinkFact, "", "", id, subject, quantity, unit, better, value, bound,
              bound_source, reason);
FATHOM_FIELDS(fleet::LinkKind, "", "", engine, direction, unit);
FATHOM_FIELDS(fleet::LinkPair, "", "", kind, from, to, value, bound);
FATHOM_FIELDS(fleet::HostLinks, "", "", host, run, facts, kinds, pairs);

namespace fleet {

/// The shortest number that gives the figure back: as a double it would have seventeen digits.
inline void to_json(nlohmann::ordered_json& json, const Reading& figure) {
  json = nullptr;
  if (figure) json = *parse_number<double>(fmt::format("{}", static_cast<float>(*figure)));
}

namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;                     ///< of all three files
constexpr std::size_t most_metrics = 100'000;  ///< more than any result has

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
    each_of(values, place, [&, row = rows.begin()](auto value, const Place& at) mutable {
      read_fields(value, at, field.rule, *row++.*field.member);
    });
  });
}

/// A file whose member `key` is its version; `rest` reads what no list of fields has.
template <class Object>
Object parse(std::string_view text, const std::string& origin, std::string_view key,
             const char* what, void (*rest)(const Fields&, Object&)) {
  const ParsedJson json(text, origin);
  const Fields own(json.root(), Place{&origin});
  require_version(own, key, version, what);
  Object object;
  read_list(fields_of<Object>, own, object);
  rest(own, object);
  return object;
}

void read_metrics(const Fields& own, GpuSummary& summary) {
  const Fields metrics = own.object("metrics");
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

void check_kinds(const Fields& own, HostLinks& links) {
  for (std::size_t i = 0; i < links.pairs.size(); ++i)
    if (links.pairs[i].kind >= links.kinds.size()) {
      const Place pairs = own.place().at("pairs"), pair = pairs.at(i);
      pair.at("kind").refuse("is not the number of a kind");
    }
}

Json score_json(const Fleet& fleet, const Finding& finding) {
  return {{"metric", fleet.metrics[finding.metric].name},
          {"gap", finding.gap},
          {"score", finding.score},
          {"limit", finding.limit}};
}

Json named_json(const Fleet& fleet, const CardScore& card) {
  constexpr std::size_t most_findings = 20;  // a card slow in everything says so in fewer
  const GpuSummary& gpu = fleet.gpus[card.gpu];
  Json findings = Json::array();
  for (const Finding& finding :
       std::span(card.findings).first(std::min(most_findings, card.findings.size()))) {
    const MetricFigures own = gpu.at(finding.metric);
    Json& json = findings.emplace_back(score_json(fleet, finding));
    json["when"] = kind_of(finding, own);
    json["beyond_measured"] = beyond_measured(finding.gap);
    json["alone"] = or_null(own.alone.optional());
    json["together"] = or_null(own.together.optional());
    json["likely_causes"] = finding.causes;
  }
  return {{"host", gpu.host},
          {"gpu", gpu.gpu},
          {"uuid_hash", gpu.uuid_hash},
          {"metrics", card.findings.size()},
          {"findings", std::move(findings)}};
}

Json setting_json(const Fleet& fleet, const DifferingSetting& setting) {
  Json values = Json::array();
  for (const auto& [value, gpus] : setting.values) {
    Json which;  // null: nobody wants to know who has the most frequent value
    if (!values.empty())
      for (const std::size_t gpu : gpus) which.push_back(name_of(fleet.gpus[gpu]));
    values.push_back({{"value", value}, {"cards", gpus.size()}, {"which", std::move(which)}});
  }
  return {{"model", setting.model}, {"setting", setting.name}, {"values", std::move(values)}};
}

}  // namespace

std::string to_text(const GpuSummary& s) {
  Json json{{std::string(summary_key), version}};
  json.update(write_fields(s));
  write_columns(json["metrics"], s.names);
  write_columns(json["metrics"], s.figures);
  return fathom::to_text(json);
}

std::string to_text(const HostLinks& links) {
  Json json{{std::string(links_key), version}};
  json.update(write_fields(links));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void require_date(const GpuSummary& summary, const std::string& origin) {
  // A GPU that failed before anything was measured has none.
  if (!summary.names.empty() || !summary.date.empty())
    date_of(summary.date, Place{&origin}.at("date"));
}

GpuSummary parse_summary(std::string_view text, const std::string& origin) {
  GpuSummary summary =
      parse<GpuSummary>(text, origin, summary_key, "a GPU's summary", read_metrics);
  require_date(summary, origin);
  return summary;
}

HostLinks parse_links(std::string_view text, const std::string& origin) {
  return parse<HostLinks>(text, origin, links_key, "a host's links", check_kinds);
}

std::string fleet_document(const Fleet& fleet, const Outliers& outliers) {
  Json document{{"fathom_fleet", version}};
  for (const char* list : {"gpus", "named", "problems", "settings_that_differ", "gap_points",
                           "distributions", "links"})
    document[list] = Json::array();
  for (const GpuSummary& own : fleet.gpus) {
    Json& gpu = document["gpus"].emplace_back(write_fields(own));
    gpu["summary"] = own.where.string();
    gpu["missing"] = write_fields(own.missing);
    gpu["worst"] = nullptr;
  }
  for (const CardScore& card : outliers.cards) {
    if (card.worst.limit > 0) document["gpus"][card.gpu]["worst"] = score_json(fleet, card.worst);
    if (!card.findings.empty()) document["named"].push_back(named_json(fleet, card));
  }
  document["problems"] = write_fields(fleet.problems);
  for (const DifferingSetting& setting : differing_settings(fleet))
    document["settings_that_differ"].push_back(setting_json(fleet, setting));
  document["gap_points"] = distribution_points;
  for (const Distribution& d : outliers.distributions)
    document["distributions"].push_back({{"metric", fleet.metrics[d.metric].name},
                                         {"unit", fleet.metrics[d.metric].unit},
                                         {"model", outliers.groups[d.group].model},
                                         {"settings", outliers.groups[d.group].settings},
                                         {"cards", d.cards},
                                         {"median", d.median},
                                         {"spread", d.spread},
                                         {"gaps", d.quantiles}});
  for (const HostLinks& host : fleet.links)
    document["links"].push_back({{"host", host.host}, {"facts", write_fields(host.facts)}});
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fleet
}  // namespace fathom
