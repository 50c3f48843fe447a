#pragma once

#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "tests/unit/test_folder.h"

namespace fathom::fleet {

/// A card of a model "GPU" with a bandwidth and a time, without figures yet; eight are on a host.
inline GpuSummary planted_card(std::size_t number) {
  GpuSummary card;
  card.host = "host" + std::to_string(number / 8);
  card.gpu = static_cast<int>(number % 8);
  card.uuid_hash = std::to_string(number);
  card.gpu_name = card.model = "GPU";
  card.names = {{"copy/best", "B/s", Better::higher}, {"launch/time", "s", Better::lower}};
  card.figures.resize(2);
  return card;
}

inline Fleet fleet_of(std::vector<GpuSummary> cards, const Expected& expected = {}) {
  Fleet fleet;
  for (GpuSummary& card : cards) fleet.add(std::move(card));
  fleet.finish(expected);
  return fleet;
}

/// The whole report with its hosts' pages, and what a terminal gets.
inline std::string report_of(const Fleet& fleet) {
  const Outliers outliers = find_outliers(fleet, {});
  const TestFolder folder;
  std::string text;
  for (const auto& page : write_fleet_report(fleet, outliers, folder.path(), {}))
    text += file_text(page);
  return text + fleet_summary(fleet, outliers);
}

/// The cards that the outliers name.
inline std::vector<std::string> named(const Fleet& fleet) {
  std::vector<std::string> names;
  for (const CardScore& card : find_outliers(fleet, {}).cards)
    if (!card.findings.empty()) names.push_back(name_of(fleet.gpus[card.gpu]));
  return names;
}

}  // namespace fathom::fleet
