#include "tools/suites.h"

#include <algorithm>

#include "generated/suite_groups.h"

namespace fathom {
namespace {

consteval std::array<std::string_view, 2> groups_of(std::string_view suite) {
  for (const SuiteGroups& row : suite_groups)
    if (row.suite == suite) return row.groups;
  throw "cmake/Suites.cmake has no such suite";  // at compile time
}

}  // namespace

const std::vector<RunSuite> run_suites{
    {"quick", groups_of("quick"), "quick", 120,
     "the standalone probes' cases that decide most, under a minute"},
    {"default", groups_of("default"), "default", 300,
     "all cases of the standalone probes, under three minutes"},
    {"atlas-quick", groups_of("atlas-quick"), "quick", 120,
     "the memory hierarchy and the instructions in short"},
    {"atlas", groups_of("atlas"), "default", 300,
     "the memory hierarchy and the instructions, level by level, with links and energy"},
    {"gemm-quick", groups_of("gemm-quick"), "quick", 120,
     "every rung of the matrix-product ladders at 1024³"},
    {"gemm", groups_of("gemm"), "default", 600,
     "the matrix-product ladders at 4096³, against the vendor's library"},
};

bool RunSuite::has(std::string_view group) const {
  return !group.empty() && std::ranges::count(groups, group) > 0;
}

std::string RunSuite::group_names() const {
  return std::string(groups[0]) + (groups[1].empty() ? "" : ", ") + std::string(groups[1]);
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
