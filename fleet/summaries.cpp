// What a fleet keeps of a GPU and of a host's links, and the members of gpu.json, links.json and
// fleet.json, once for their readers and their writers.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "fleet/fleet.h"
#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/fields.h"
#include "results/findings.h"
#include "results/statistics.h"
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

FATHOM_FIELDS(fleet::MissingFigure, "", "", metric, when, reason);
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

bool usable(const Entry& entry) {
  using enum VerdictStatus;
  const VerdictStatus status = entry.verdict.status;
  return entry.metric.value && status != wrong_output && status != failed && status != above_bound;
}

/// The run's own noise: the interval of the median, or how far separate rounds are apart.
double noise_of(const Entry& entry) {
  double noise = entry.repeatability.value_or(0);
  const double value = std::abs(entry.metric.value.value_or(0));
  constexpr double half_widths = 1.96;  // a 95 % interval's half width in standard deviations
  if (entry.interval && value > 0)
    noise = std::max(noise, (entry.interval->high - entry.interval->low) / 2 / half_widths / value);
  return noise;
}

void add_telemetry(Health& health, const Document& document) {
  std::vector<double> sm_clocks, memory_clocks;
  std::set<std::string> reasons(health.throttle_reasons.begin(), health.throttle_reasons.end());
  for (const Entry& entry : document.entries) {
    const Telemetry& t = entry.telemetry;
    if (t.sm_clock_hz.median) sm_clocks.push_back(*t.sm_clock_hz.median);
    if (t.memory_clock_hz.median) memory_clocks.push_back(*t.memory_clock_hz.median);
    // No reading is below any.
    health.temperature_c = std::max(health.temperature_c, t.temperature_c.high);
    health.power_w = std::max(health.power_w, t.power_w.high);
    std::ranges::copy_if(t.throttle_reasons, std::inserter(reasons, reasons.end()),
                         holds_clocks_down);
  }
  // The later document is the longer one, and the one under the heavier load.
  if (const auto clock = median_or_none(sm_clocks)) health.sm_clock_hz = clock;
  if (const auto clock = median_or_none(memory_clocks)) health.memory_clock_hz = clock;
  health.throttle_reasons.assign(reasons.begin(), reasons.end());
}

std::string shown(const std::optional<double>& value, const char* unit) {
  return value ? format_quantity(*value, unit) : "unknown";
}

Settings settings_of(const Fingerprint& f) {
  return {{"ECC", f.ecc},
          {"MIG", f.mig},
          {"PCIe link", f.pcie_link},
          {"VBIOS", f.vbios},
          {"compute mode", f.compute_mode},
          {"confidential computing", f.confidential_computing},
          {"driver", f.driver},
          {"highest SM clock", shown(f.sm_clock_max_hz, "Hz")},
          {"highest memory clock", shown(f.memory_clock_max_hz, "Hz")},
          {"persistence", f.persistence},
          {"power limit", shown(f.power_limit_w, "W")},
          {"virtualization", f.virtualization}};
}

/// "generation 5, x8 of x16" as the fingerprint has it.
void add_pcie(Health& health, const std::string& link) {
  int generation = 0, width = 0;
  const int read = std::sscanf(link.c_str(), "generation %d, x%d", &generation, &width);
  // The driver's own answers are better than what the fingerprint's words say.
  if (!health.pcie_generation && read >= 1) health.pcie_generation = generation;
  if (!health.pcie_width && read == 2) health.pcie_width = width;
}

void add_identity(GpuSummary& summary, const Document& document) {
  const Fingerprint& f = document.fingerprint;
  summary.gpu_name = f.gpu_name;
  if (summary.uuid_hash.empty()) summary.uuid_hash = f.gpu_uuid_hash;  // a replay has its own
  summary.date = document.date;
  summary.source = document.source;
  summary.model =
      fmt::format("{}, {} SMs, {}", f.gpu_name, f.sms.value_or(0), shown(f.memory_bytes, "B"));
  if (f.mig == "enabled") summary.model += ", MIG";
  summary.settings = settings_of(f);
  summary.health.power_limit_w = f.power_limit_w;
  add_pcie(summary.health, f.pcie_link);
}

std::string axis_text(const Entry& entry, const char* name) {
  const AxisValue* value = find_axis(entry, name);
  return value == nullptr ? "?" : format_axis_value(name, *value);
}

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
    json["alone"] = write_fields(own.alone.optional());
    json["together"] = write_fields(own.together.optional());
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

void add_document(GpuSummary& summary, const Document& document, Phase phase) {
  if (summary.model.empty()) add_identity(summary, document);
  summary.suite = document.suite;
  // Suites and builds that differ are seen among the settings.
  summary.settings["suite"] = document.suite;
  summary.settings["Fathom"] =
      fmt::format("{}, commit {}", document.fathom_version, document.fathom_commit);
  add_telemetry(summary.health, document);
  std::unordered_map<std::string, std::vector<double>> values;  // of an entry's repetitions
  for (const Entry& entry : document.entries)
    if (usable(entry)) values[entry.name].push_back(*entry.metric.value);
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < summary.names.size(); ++i) places[summary.names[i].name] = i;
  for (const Entry& entry : document.entries) {
    const auto own = usable(entry) ? values.extract(entry.name) : decltype(values)::node_type();
    if (!own) continue;  // a further repetition has the first one's values
    const auto [at, is_new] = places.try_emplace(entry.name, summary.names.size());
    if (is_new) summary.names.push_back({entry.name, entry.metric.unit, entry.metric.better});
    summary.figures.resize(summary.names.size());
    MetricFigures& figures = summary.figures[at->second];
    Reading& figure = phase == Phase::alone ? figures.alone : figures.together;
    if (!figure) figure = median(own.mapped());
    if (!figures.noise) figures.noise = noise_of(entry);
    if (const auto clock = entry.telemetry.sm_clock_hz.median) figures.sm_clock_hz = clock;
  }
}

HostLinks links_of(const std::string& host, const Document& document) {
  HostLinks links;
  links.host = host;
  for (const Fact& fact : document.facts)
    links.facts.push_back({fact.id, fact.subject, fact.quantity, fact.unit, fact.better, fact.value,
                           fact.bound ? std::optional(fact.bound->value) : std::nullopt,
                           fact.bound ? fact.bound->source : "", fact.reason});
  for (const Entry* entry : select(document.entries, {{"link", "peer"}})) {
    if (!entry->metric.value) continue;
    const LinkKind kind{axis_text(*entry, "engine"), axis_text(*entry, "direction"),
                        entry->metric.unit};
    const auto at = std::ranges::find(links.kinds, kind);
    const auto place = static_cast<std::size_t>(at - links.kinds.begin());
    if (at == links.kinds.end()) links.kinds.push_back(kind);
    links.pairs.push_back({place, axis_text(*entry, "from GPU"), axis_text(*entry, "to GPU"),
                           entry->metric.value,
                           entry->bound ? Reading(entry->bound->value) : Reading()});
  }
  return links;
}

std::string name_of(const GpuSummary& summary) {
  return fmt::format("{} GPU {}", summary.host, summary.gpu);
}

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
