#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/outliers.h"

namespace fathom::fleet {

/// What is usual among the cards of a group, for many questions about single cards.
class Causes {
 public:
  Causes(const Fleet& fleet, const Group& group);

  /// Why a card may be worse in a metric, by what its telemetry and settings show against the
  /// others', likeliest first; empty where they show nothing.
  std::vector<std::string> of(std::size_t gpu, const Finding& finding);

 private:
  using Channel = std::optional<double> Health::*;
  struct Known {
    Channel channel;
    const char* what;
    const char* unit;
  };
  std::optional<double> usual(Channel channel);
  std::optional<double> usual_clock(std::size_t metric);
  void lower(const Known& known, double same, const Health& own, std::vector<std::string>& found);
  void higher(const Known& known, const Health& own, std::vector<std::string>& found);
  void clocks(std::size_t gpu, std::size_t metric, std::vector<std::string>& found);
  void limits(const Health& own, std::vector<std::string>& found);
  void settings(const GpuSummary& summary, std::vector<std::string>& found) const;

  const Fleet& fleet_;
  const Group& group_;
  std::vector<std::pair<Channel, std::optional<double>>> usual_;
  std::map<std::size_t, std::optional<double>> clocks_;
  std::map<std::string, std::size_t> reasons_;  ///< how many cards have each
  std::map<std::string, std::map<std::string, std::size_t>> settings_;
};

}  // namespace fathom::fleet
