#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/outliers.h"

namespace fathom::fleet {

/// Why cards may be worse than their kind. Remembers what is usual in a group, for many questions
/// about single cards.
class Causes {
 public:
  Causes(const Fleet& fleet, const Outliers& outliers) : fleet_(fleet), outliers_(outliers) {}

  /// What a card's telemetry and settings show against the others', likeliest first; empty where
  /// they show nothing.
  std::vector<std::string> of(const CardScore& card, const Finding& finding);

 private:
  struct Usual {
    std::map<std::pair<std::string, std::size_t>, std::optional<double>> medians;
    std::map<std::string, std::size_t> reasons;  ///< how many cards have each
    std::map<std::string, std::map<std::string, std::size_t>> settings;
  };
  Usual& usual_in(std::size_t group);

  const Fleet& fleet_;
  const Outliers& outliers_;
  std::map<std::size_t, Usual> usual_;  ///< by group
};

}  // namespace fathom::fleet
