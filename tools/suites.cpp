#include "tools/suites.h"

#include <algorithm>

namespace fathom {
namespace {

constexpr RunSuite suites[] = {
    {"quick", {"core"}, "quick", 120, "the standalone probes' cases that decide most, under a minute"},
    {"default", {"core"}, "default", 300, "all cases of the standalone probes, under three minutes"},
    {"atlas-quick", {"atlas"}, "quick", 120, "the memory hierarchy and the instructions in short"},
    {"atlas",
     {"atlas", "atlas-long"},
     "default",
     300,
     "the memory hierarchy and the instructions, level by level, with links and energy"},
    {"gemm-quick", {"gemm"}, "quick", 120, "every rung of the matrix-product ladders at 1024 cubed"},
    {"gemm", {"gemm"}, "default", 600, "the matrix-product ladders at 4096 cubed, against the vendor's library"},
};

}  // namespace

bool RunSuite::has(std::string_view group) const {
  return !group.empty() && std::ranges::find(groups, group) != groups.end();
}

std::string RunSuite::group_names() const {
  std::string names;
  for (const std::string_view group : groups) {
    if (!group.empty()) names += (names.empty() ? "" : ", ") + std::string(group);
  }
  return names;
}

std::span<const RunSuite> run_suites() { return suites; }

const RunSuite* find_run_suite(const std::string& name) {
  const auto found = std::find_if(std::begin(suites), std::end(suites),
                                  [&](const RunSuite& suite) { return suite.name == name; });
  return found == std::end(suites) ? nullptr : found;
}

}  // namespace fathom
