#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// What `fathom run --suite NAME` runs: the probes of some groups, each with one size of its sweep.
struct RunSuite {
  std::string name;
  const char* sweep;  ///< what the probes' own --suite takes: "quick" or "default"
  int probe_limit_s;  ///< after which a probe is ended: well above what it takes on a fast GPU
  const char* description;  ///< with the time it may take

  /// A group as a probe's `--describe` says it: "core", "atlas", "atlas-long".
  bool has(std::string_view group) const;
  std::string group_names() const;  ///< "atlas, atlas-long"
};

extern const std::vector<RunSuite> run_suites;

std::vector<std::string> suite_names();

/// Nothing for a name that no suite has.
const RunSuite* find_run_suite(const std::string& name);

}  // namespace fathom
