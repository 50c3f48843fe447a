#include <nlohmann/json.hpp>

#include "fleet/causes.h"
#include "fleet/report.h"
#include "fleet/summary_json.h"
#include "results/json_values.h"
#include "results/names.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr int fleet_version = 1;

Json finding_json(const Fleet& fleet, const CardScore& card, const Finding& finding,
                  Causes& causes) {
  const MetricFigures own = fleet.gpus[card.gpu].at(finding.metric);
  return {{"metric", fleet.metrics[finding.metric].name},
          {"when", kind_of(finding, own)},
          {"gap", finding.gap},
          {"beyond_measured", beyond_measured(finding.gap)},
          {"score", finding.score},
          {"limit", finding.limit},
          {"alone", or_null(own.alone.optional())},
          {"together", or_null(own.together.optional())},
          {"likely_causes", causes.of(card, finding)}};
}

Json named_json(const Fleet& fleet, const Outliers& outliers) {
  Causes causes(fleet, outliers);
  Json named = Json::array();
  for (const CardScore& card : outliers.cards) {
    if (card.findings.empty()) break;
    constexpr std::size_t most_findings = 20;  // a card slow in everything says so in fewer
    Json findings = Json::array();
    for (std::size_t i = 0; i < std::min(most_findings, card.findings.size()); ++i)
      findings.push_back(finding_json(fleet, card, card.findings[i], causes));
    const GpuSummary& s = fleet.gpus[card.gpu].summary;
    named.push_back({{"host", s.host},
                     {"gpu", s.gpu},
                     {"uuid_hash", s.uuid_hash},
                     {"metrics", card.findings.size()},
                     {"findings", std::move(findings)}});
  }
  return named;
}

Json gpus_json(const Fleet& fleet, const Outliers& outliers) {
  std::map<std::size_t, const CardScore*> scores;
  for (const CardScore& card : outliers.cards) scores[card.gpu] = &card;
  Json gpus = Json::array();
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    const GpuSummary& s = fleet.gpus[i].summary;
    Json worst = nullptr;
    if (const auto found = scores.find(i);
        found != scores.end() && found->second->worst.limit > 0) {
      const Finding& f = found->second->worst;
      worst = {{"metric", fleet.metrics[f.metric].name},
               {"gap", f.gap},
               {"score", f.score},
               {"limit", f.limit}};
    }
    Json& gpu = gpus.emplace_back(write_fields(s));
    gpu["summary"] = fleet.gpus[i].where.string();
    gpu["missing"] = write_fields(fleet.gpus[i].missing);
    gpu["worst"] = std::move(worst);
  }
  return gpus;
}

}  // namespace

std::string fleet_document(const Fleet& fleet, const Outliers& outliers) {
  Json distributions = Json::array();
  for (const Distribution& d : outliers.distributions)
    distributions.push_back({{"metric", fleet.metrics[d.metric].name},
                             {"unit", fleet.metrics[d.metric].unit},
                             {"model", outliers.groups[d.group].model},
                             {"settings", outliers.groups[d.group].settings},
                             {"cards", d.cards},
                             {"median", d.median},
                             {"spread", d.spread},
                             {"gaps", d.quantiles}});
  Json settings = Json::array();
  for (const DifferingSetting& setting : differing_settings(fleet)) {
    Json values = Json::array();
    for (const auto& value : setting.values) {
      Json hosts = Json::array();
      for (const std::size_t gpu : value.gpus) hosts.push_back(name_of(fleet.gpus[gpu].summary));
      // Nobody wants to know who has the most frequent value.
      const bool most = &value == &setting.values.front();
      values.push_back({{"value", value.value},
                        {"cards", value.gpus.size()},
                        {"which", most ? Json(nullptr) : std::move(hosts)}});
    }
    settings.push_back(
        {{"model", setting.model}, {"setting", setting.name}, {"values", std::move(values)}});
  }
  Json links = Json::array();
  for (const HostLinks& host : fleet.links)
    links.push_back({{"host", host.host}, {"facts", write_fields(host.facts)}});
  const Json document{{"fathom_fleet", fleet_version},
                      {"gpus", gpus_json(fleet, outliers)},
                      {"named", named_json(fleet, outliers)},
                      {"problems", write_fields(fleet.problems)},
                      {"settings_that_differ", std::move(settings)},
                      {"gap_points", distribution_points},
                      {"distributions", std::move(distributions)},
                      {"links", std::move(links)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fathom::fleet
