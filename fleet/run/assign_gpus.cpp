#include "fleet/run/assign_gpus.h"

#include <set>

namespace fathom {

std::vector<std::optional<std::size_t>> assign_gpus(
    const std::vector<std::vector<std::string>>& visible) {
  std::set<std::string> taken;
  std::vector<std::optional<std::size_t>> all;
  for (const std::vector<std::string>& gpus : visible) {
    std::optional<std::size_t>& own = all.emplace_back();
    for (std::size_t i = 0; i < gpus.size() && !own; ++i)
      if (taken.insert(gpus[i]).second) own = i;
  }
  return all;
}

}  // namespace fathom
