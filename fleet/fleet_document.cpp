#include <nlohmann/json.hpp>

#include "fleet/report.h"
#include "fleet/summary_json.h"
#include "results/json_values.h"
#include "results/names.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr int fleet_version = 1;

/// What a card's figure is against the others'.
Json score_json(const Fleet& fleet, const Finding& finding) {
  return {{"metric", fleet.metrics[finding.metric].name},
          {"gap", finding.gap},
          {"score", finding.score},
          {"limit", finding.limit}};
}

Json named_json(const Fleet& fleet, const CardScore& card) {
  constexpr std::size_t most_findings = 20;  // a card slow in everything says so in fewer
  const FleetGpu& gpu = fleet.gpus[card.gpu];
  Json findings = Json::array();
  for (const Finding& finding : card.findings) {
    if (findings.size() == most_findings) break;
    const MetricFigures own = gpu.at(finding.metric);
    Json& json = findings.emplace_back(score_json(fleet, finding));
    json["when"] = kind_of(finding, own);
    json["beyond_measured"] = beyond_measured(finding.gap);
    json["alone"] = or_null(own.alone.optional());
    json["together"] = or_null(own.together.optional());
    json["likely_causes"] = finding.causes;
  }
  return {{"host", gpu.summary.host},
          {"gpu", gpu.summary.gpu},
          {"uuid_hash", gpu.summary.uuid_hash},
          {"metrics", card.findings.size()},
          {"findings", std::move(findings)}};
}

}  // namespace

std::string fleet_document(const Fleet& fleet, const Outliers& outliers) {
  Json document{{"fathom_fleet", fleet_version}};
  Json& gpus = document["gpus"] = Json::array();
  for (const FleetGpu& own : fleet.gpus) {
    Json& gpu = gpus.emplace_back(write_fields(own.summary));
    gpu["summary"] = own.where.string();
    gpu["missing"] = write_fields(own.missing);
    gpu["worst"] = nullptr;
  }
  document["named"] = Json::array();
  for (const CardScore& card : outliers.cards) {
    if (card.worst.limit > 0) document["gpus"][card.gpu]["worst"] = score_json(fleet, card.worst);
    if (!card.findings.empty()) document["named"].push_back(named_json(fleet, card));
  }
  document["problems"] = write_fields(fleet.problems);
  Json& settings = document["settings_that_differ"] = Json::array();
  for (const DifferingSetting& setting : differing_settings(fleet)) {
    Json values = Json::array();
    for (const auto& value : setting.values) {
      // Nobody wants to know who has the most frequent value.
      Json which = values.empty() ? Json(nullptr) : Json::array();
      if (!values.empty())
        for (const std::size_t gpu : value.gpus) which.push_back(name_of(fleet.gpus[gpu].summary));
      values.push_back(
          {{"value", value.value}, {"cards", value.gpus.size()}, {"which", std::move(which)}});
    }
    settings.push_back(
        {{"model", setting.model}, {"setting", setting.name}, {"values", std::move(values)}});
  }
  document["gap_points"] = distribution_points;
  Json& distributions = document["distributions"] = Json::array();
  for (const Distribution& d : outliers.distributions)
    distributions.push_back({{"metric", fleet.metrics[d.metric].name},
                             {"unit", fleet.metrics[d.metric].unit},
                             {"model", outliers.groups[d.group].model},
                             {"settings", outliers.groups[d.group].settings},
                             {"cards", d.cards},
                             {"median", d.median},
                             {"spread", d.spread},
                             {"gaps", d.quantiles}});
  Json& links = document["links"] = Json::array();
  for (const HostLinks& host : fleet.links)
    links.push_back({{"host", host.host}, {"facts", write_fields(host.facts)}});
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fathom::fleet
