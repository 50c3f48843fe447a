#include "fleet/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

/// Clocks closer together than this are the same: a step is 15 MHz.
constexpr double same_clock = 0.004;
constexpr double same_temperature_c = 8, same_power_limit = 0.005;

std::string against(const char* what, double own, double others, const char* unit) {
  return fmt::format("{} {}, the others' {}", what, format_quantity(own, unit),
                     format_quantity(others, unit));
}

}  // namespace

Causes::Causes(const Fleet& fleet, const Group& group) : fleet_(fleet), group_(group) {
  for (const std::size_t gpu : group.members) {
    const GpuSummary& summary = fleet.gpus[gpu].summary;
    for (const std::string& reason : summary.health.throttle_reasons) ++reasons_[reason];
    for (const auto& [name, value] : summary.settings) ++settings_[name][value];
  }
}

std::optional<double> Causes::usual(Channel channel) {
  for (const auto& [known, value] : usual_)
    if (known == channel) return value;
  std::vector<double> values;
  for (const std::size_t gpu : group_.members)
    if (const auto& value = fleet_.gpus[gpu].summary.health.*channel) values.push_back(*value);
  return usual_.emplace_back(channel, median_or_none(values)).second;
}

std::optional<double> Causes::usual_clock(std::size_t metric) {
  const auto [at, is_new] = clocks_.try_emplace(metric);
  if (is_new) {
    std::vector<double> values;
    for (const std::size_t gpu : group_.members)
      if (const Reading clock = fleet_.gpus[gpu].at(metric).sm_clock_hz) values.push_back(*clock);
    at->second = median_or_none(values);
  }
  return at->second;
}

void Causes::lower(const Known& known, double same, const Health& own,
                   std::vector<std::string>& found) {
  const auto others = usual(known.channel);
  const auto& value = own.*known.channel;
  if (others && value && *value < *others * (1 - same))
    found.push_back(against(known.what, *value, *others, known.unit));
}

void Causes::higher(const Known& known, const Health& own, std::vector<std::string>& found) {
  const auto others = usual(known.channel);
  const auto& value = own.*known.channel;
  if (others && value && *value > *others)
    found.push_back(against(known.what, *value, *others, known.unit));
}

void Causes::clocks(std::size_t gpu, std::size_t metric, std::vector<std::string>& found) {
  const FleetGpu& card = fleet_.gpus[gpu];
  const auto others = usual_clock(metric);
  const Reading own = card.at(metric).sm_clock_hz;
  if (others && own && *own < *others * (1 - same_clock))
    found.push_back(against("SM clock", *own, *others, "Hz"));
  lower({&Health::memory_clock_hz, "memory clock", "Hz"}, same_clock, card.summary.health, found);
}

void Causes::limits(const Health& own, std::vector<std::string>& found) {
  lower({&Health::power_limit_w, "power limit", "W"}, same_power_limit, own, found);
  std::vector<std::string> rare;  // what fewer than a quarter have
  for (const std::string& reason : own.throttle_reasons)
    if (4 * reasons_.at(reason) <= group_.members.size() + 3) rare.push_back(reason);
  if (!rare.empty()) found.push_back(fmt::format("clocks held down: {}", fmt::join(rare, ", ")));
  const auto others = usual(&Health::temperature_c);
  if (others && own.temperature_c && *own.temperature_c >= *others + same_temperature_c)
    found.push_back(against("temperature", *own.temperature_c, *others, "C"));
}

void Causes::settings(const GpuSummary& summary, std::vector<std::string>& found) const {
  for (const auto& [name, value] : summary.settings) {
    if (name != "ECC" && name != "MIG" && name != "driver") continue;
    const auto most =
        std::ranges::max_element(settings_.at(name), {}, [](const auto& v) { return v.second; });
    if (value != most->first && 2 * most->second > group_.members.size())
      found.push_back(fmt::format("{} {}, the others' {}", name, value, most->first));
  }
}

std::vector<std::string> Causes::of(std::size_t gpu, const Finding& finding) {
  const GpuSummary& summary = fleet_.gpus[gpu].summary;
  const Health& own = summary.health;
  std::vector<std::string> found;
  if (beyond_measured(finding.gap))
    found.push_back("beyond anything measured: the figure itself is wrong");
  clocks(gpu, finding.metric, found);
  limits(own, found);
  if (own.remapping_failed) found.push_back("a remapping of memory rows failed");
  if (own.remapping_pending) found.push_back("memory rows wait for a reset to be remapped");
  higher({&Health::uncorrected_ecc_errors, "uncorrected ECC errors", ""}, own, found);
  higher({&Health::remapped_rows, "remapped memory rows", ""}, own, found);
  lower({&Health::pcie_generation, "PCIe generation", ""}, same_clock, own, found);
  lower({&Health::pcie_width, "PCIe lanes", ""}, same_clock, own, found);
  higher({&Health::other_processes, "other processes", ""}, own, found);
  settings(summary, found);
  return found;
}

}  // namespace fathom::fleet
