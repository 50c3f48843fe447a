#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace fathom::fleet {

/// Cards that are held against each other: of one model, and of the same settings where there are
/// enough of them.
struct Group {
  std::string model;
  std::string settings;              ///< those of most of its cards, as one text
  std::vector<std::size_t> members;  ///< places in Fleet::gpus
};

/// Fewer cards of one kind of settings than this are held against the model's most frequent kind:
/// their settings may be why they differ.
inline constexpr std::size_t enough_for_own_group = 8;

/// The settings that make a card faster or slower: driver, ECC, power limit, MIG, clocks.
std::string performance_settings(const Settings& settings);

/// Every GPU with figures is in one group.
std::vector<Group> groups_of(const Fleet& fleet);

/// A setting in which cards of one model differ.
struct DifferingSetting {
  std::string model, name;
  struct Value {
    std::string value;
    std::vector<std::size_t> gpus;  ///< places in Fleet::gpus
  };
  std::vector<Value> values;  ///< the most frequent first
};

std::vector<DifferingSetting> differing_settings(const Fleet& fleet);

}  // namespace fathom::fleet
