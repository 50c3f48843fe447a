#pragma once

#include <span>
#include <string>

namespace fathom {

/// What `fathom run --suite NAME` runs: the probes of one group, each with one size of its sweep.
struct RunSuite {
  const char* name;
  const char* group;        ///< as a probe's `--describe` says it: "core", "atlas"
  const char* sweep;        ///< what the probes' own --suite takes: "quick" or "default"
  const char* description;  ///< with the time it may take
};

std::span<const RunSuite> run_suites();

/// Nothing for a name that no suite has.
const RunSuite* find_run_suite(const std::string& name);

}  // namespace fathom
