#include "fleet/summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_map>

#include "results/findings.h"
#include "results/statistics.h"
#include "results/text.h"
#include "results/verdict.h"

namespace fathom::fleet {
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

}  // namespace fathom::fleet
