#include <algorithm>
#include <map>

#include "fleet/outliers.h"

namespace fathom::fleet {
namespace {

/// Fewer cards of one kind of settings than this are held against the model's most frequent kind:
/// their settings may be why they differ.
constexpr std::size_t enough_for_own_group = 8;

/// The settings that make a card faster or slower.
std::string performance_settings(const Settings& settings) {
  std::string text;
  for (const char* name : {"ECC", "MIG", "confidential computing", "driver", "highest SM clock",
                           "highest memory clock", "power limit"})
    if (const auto own = settings.find(name); own != settings.end())
      text += (text.empty() ? "" : ", ") + own->first + " " + own->second;
  return text;
}

}  // namespace

std::vector<Group> groups_of(const Fleet& fleet) {
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> kinds;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    const GpuSummary& summary = fleet.gpus[i].summary;
    if (!fleet.gpus[i].figures.empty() && !summary.model.empty())
      kinds[summary.model][performance_settings(summary.settings)].push_back(i);
  }
  std::vector<Group> groups;
  for (auto& [model, by_settings] : kinds) {
    const auto most = std::ranges::max_element(by_settings, {},
                                               [](const auto& kind) { return kind.second.size(); });
    const std::size_t main = groups.size();
    groups.push_back({model, most->first, most->second});
    for (auto& [settings, members] : by_settings) {
      if (settings == most->first) continue;
      if (members.size() >= enough_for_own_group) {
        groups.push_back({model, settings, std::move(members)});
      } else {
        auto& into = groups[main].members;
        into.insert(into.end(), members.begin(), members.end());
      }
    }
    std::ranges::sort(groups[main].members);
  }
  return groups;
}

std::vector<DifferingSetting> differing_settings(const Fleet& fleet) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<std::size_t>>>
      all;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    const GpuSummary& summary = fleet.gpus[i].summary;
    if (summary.model.empty()) continue;
    for (const auto& [name, value] : summary.settings)
      all[{summary.model, name}][value].push_back(i);
  }
  std::vector<DifferingSetting> differing;
  for (auto& [key, values] : all) {
    if (values.size() < 2) continue;
    DifferingSetting setting{key.first, key.second, {}};
    for (auto& [value, gpus] : values) setting.values.push_back({value, std::move(gpus)});
    std::ranges::stable_sort(setting.values, std::greater{},
                             [](const auto& value) { return value.gpus.size(); });
    differing.push_back(std::move(setting));
  }
  return differing;
}

}  // namespace fathom::fleet
