#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "fleet/outliers.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

/// Clocks closer together than this are the same: a step is 15 MHz.
constexpr double same_clock = 0.004;
constexpr double same_temperature_c = 8, same_power_limit = 0.005;

/// Whether `own` is below the others' by more than a share.
auto lower(double share) {
  return [share](double own, double others) { return own < others * (1 - share); };
}

constexpr auto higher = std::greater<double>();

}  // namespace

void add_causes(const Fleet& fleet, const Group& group, std::vector<CardScore>& cards) {
  using Value = std::optional<double>;
  std::map<std::string_view, Value> usual;  // medians of the group
  std::map<std::size_t, Value> clocks;      // of the SMs, by metric
  const auto median_of = [&](auto& known, auto key, auto value_of) {
    const auto [at, is_new] = known.try_emplace(key);
    if (!is_new) return at->second;
    std::vector<double> values;
    for (const std::size_t gpu : group.members)
      if (const auto one = value_of(fleet.gpus[gpu])) values.push_back(*one);
    return at->second = median_or_none(values);
  };
  std::map<std::string, std::size_t> reasons;  // how many cards have each
  std::map<std::string, std::map<std::string, std::size_t>> settings;
  for (const std::size_t gpu : group.members) {
    const GpuSummary& summary = fleet.gpus[gpu];
    for (const std::string& reason : summary.health.throttle_reasons) ++reasons[reason];
    for (const char* name : {"ECC", "MIG", "driver"})
      if (const auto own = summary.settings.find(name); own != summary.settings.end())
        ++settings[name][own->second];
  }
  for (CardScore& card : cards) {
    const GpuSummary& summary = fleet.gpus[card.gpu];
    const Health& own = summary.health;
    const auto hold = [](const char* what, const char* unit, Value value, Value others,
                         auto is_cause, std::vector<std::string>& found) {
      if (value && others && is_cause(*value, *others))
        found.push_back(fmt::format("{} {}, the others' {}", what, format_quantity(*value, unit),
                                    format_quantity(*others, unit)));
    };
    std::vector<std::string> found;  // for all metrics
    const auto hold_health = [&](const char* what, const char* unit, Value Health::*channel,
                                 auto is_cause) {
      hold(what, unit, own.*channel,
           median_of(usual, what, [&](const GpuSummary& gpu) { return gpu.health.*channel; }),
           is_cause, found);
    };
    hold_health("memory clock", "Hz", &Health::memory_clock_hz, lower(same_clock));
    hold_health("power limit", "W", &Health::power_limit_w, lower(same_power_limit));
    std::vector<std::string> rare;  // what fewer than a quarter have
    for (const std::string& reason : own.throttle_reasons)
      if (4 * reasons[reason] <= group.members.size() + 3) rare.push_back(reason);
    if (!rare.empty()) found.push_back(fmt::format("clocks held down: {}", fmt::join(rare, ", ")));
    hold_health("temperature", "C", &Health::temperature_c,
                [](double c, double others) { return c >= others + same_temperature_c; });
    if (own.remapping_failed) found.push_back("a remapping of memory rows failed");
    if (own.remapping_pending) found.push_back("memory rows wait for a reset to be remapped");
    hold_health("uncorrected ECC errors", "", &Health::uncorrected_ecc_errors, higher);
    hold_health("remapped memory rows", "", &Health::remapped_rows, higher);
    hold_health("PCIe generation", "", &Health::pcie_generation, lower(same_clock));
    hold_health("PCIe lanes", "", &Health::pcie_width, lower(same_clock));
    hold_health("other processes", "", &Health::other_processes, higher);
    for (const auto& [name, values] : settings) {
      const auto most =
          std::ranges::max_element(values, {}, [](const auto& v) { return v.second; });
      const auto value = summary.settings.find(name);
      if (value != summary.settings.end() && value->second != most->first &&
          2 * most->second > group.members.size())
        found.push_back(fmt::format("{} {}, the others' {}", name, value->second, most->first));
    }
    const auto explain = [&](Finding& finding) {
      const auto clock = [&](const GpuSummary& gpu) {
        return gpu.at(finding.metric).sm_clock_hz.optional();
      };
      if (beyond_measured(finding.gap))
        finding.causes.push_back("beyond anything measured: the figure itself is wrong");
      hold("SM clock", "Hz", clock(summary), median_of(clocks, finding.metric, clock),
           lower(same_clock), finding.causes);
      finding.causes.insert(finding.causes.end(), found.begin(), found.end());
    };
    explain(card.worst);
    std::ranges::for_each(card.findings, explain);
  }
}

}  // namespace fathom::fleet
