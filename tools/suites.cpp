#include "tools/suites.h"

#include <algorithm>

#include "generated/suite_groups.h"

namespace fathom {
namespace {

/// The second may be empty. cmake/Suites.cmake has every suite below.
const std::array<std::string_view, 2>& groups_of(const RunSuite& suite) {
  return std::ranges::find(suite_groups, suite.name, &SuiteGroups::suite)->groups;
}

}  // namespace

const std::vector<RunSuite> run_suites{
    {"quick", "quick", 120, "the standalone probes' cases that decide most, under a minute"},
    {"default", "default", 300, "all cases of the standalone probes, under three minutes"},
    {"atlas-quick", "quick", 120, "the memory hierarchy and the instructions in short"},
    {"atlas", "default", 300,
     "the memory hierarchy and the instructions, level by level, with links and energy"},
    {"gemm-quick", "quick", 120, "every rung of the matrix-product ladders at 1024³"},
    {"gemm", "default", 600, "the matrix-product ladders at 4096³, against the vendor's library"},
};

bool RunSuite::has(std::string_view group) const {
  return !group.empty() && std::ranges::count(groups_of(*this), group) > 0;
}

std::string RunSuite::group_names() const {
  const auto& [first, second] = groups_of(*this);
  return std::string(first) + (second.empty() ? "" : ", ") + std::string(second);
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const RunSuite& suite : run_suites) names.push_back(suite.name);
  return names;
}

const RunSuite* find_run_suite(const std::string& name) {
  const auto found = std::ranges::find(run_suites, name, &RunSuite::name);
  return found == run_suites.end() ? nullptr : &*found;
}

}  // namespace fathom
