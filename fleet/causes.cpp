#include "fleet/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

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

Causes::Usual& Causes::usual_in(std::size_t number) {
  const auto [at, is_new] = usual_.try_emplace(number);
  Usual& usual = at->second;
  if (!is_new) return usual;
  for (const std::size_t gpu : outliers_.groups[number].members) {
    const GpuSummary& summary = fleet_.gpus[gpu].summary;
    for (const std::string& reason : summary.health.throttle_reasons) ++usual.reasons[reason];
    for (const auto& [name, value] : summary.settings) ++usual.settings[name][value];
  }
  return usual;
}

std::vector<std::string> Causes::of(const CardScore& card, const Finding& finding) {
  const Group& group = outliers_.groups[card.group];
  const GpuSummary& summary = fleet_.gpus[card.gpu].summary;
  const Health& own = summary.health;
  Usual& usual = usual_in(card.group);
  std::vector<std::string> found;
  // A card's value against the others'. `metric`: 0 for what holds for all of them.
  const auto hold = [&](const char* what, const char* unit, std::size_t metric, auto value_of,
                        auto is_cause) {
    const auto [others, is_new] = usual.medians.try_emplace({what, metric});
    if (is_new) {
      std::vector<double> values;
      for (const std::size_t gpu : group.members)
        if (const auto one = value_of(fleet_.gpus[gpu])) values.push_back(*one);
      others->second = median_or_none(values);
    }
    const auto value = value_of(fleet_.gpus[card.gpu]);
    if (value && others->second && is_cause(*value, *others->second))
      found.push_back(fmt::format("{} {}, the others' {}", what, format_quantity(*value, unit),
                                  format_quantity(*others->second, unit)));
  };
  const auto hold_health = [&](const char* what, const char* unit,
                               std::optional<double> Health::*channel, auto is_cause) {
    hold(
        what, unit, 0, [&](const FleetGpu& gpu) { return gpu.summary.health.*channel; }, is_cause);
  };

  if (beyond_measured(finding.gap))
    found.push_back("beyond anything measured: the figure itself is wrong");
  hold(
      "SM clock", "Hz", finding.metric,
      [&](const FleetGpu& gpu) { return gpu.at(finding.metric).sm_clock_hz; }, lower(same_clock));
  hold_health("memory clock", "Hz", &Health::memory_clock_hz, lower(same_clock));
  hold_health("power limit", "W", &Health::power_limit_w, lower(same_power_limit));
  std::vector<std::string> rare;  // what fewer than a quarter have
  for (const std::string& reason : own.throttle_reasons)
    if (4 * usual.reasons.at(reason) <= group.members.size() + 3) rare.push_back(reason);
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
  for (const auto& [name, value] : summary.settings) {
    if (name != "ECC" && name != "MIG" && name != "driver") continue;
    const auto most = std::ranges::max_element(usual.settings.at(name), {},
                                               [](const auto& v) { return v.second; });
    if (value != most->first && 2 * most->second > group.members.size())
      found.push_back(fmt::format("{} {}, the others' {}", name, value, most->first));
  }
  return found;
}

}  // namespace fathom::fleet
