#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/probe.h"

namespace fathom::gate_victim {

/// Faults by the metric's name; see `fault_options`.
struct Faults {
  std::map<std::string, double> slow;         ///< factor of the work, 1 to 2
  std::map<std::string, double> conflict;     ///< share of the shared loads, 0 to 1
  std::map<std::string, double> uncoalesced;  ///< share of the tiles, 0 to 1
  std::map<std::string, double> occupancy;    ///< share of the resident blocks that is lost
};

/// Which faults a metric can have beside more work.
struct Possible {
  bool conflict = false, uncoalesced = false, occupancy = false;
};

/// --slow, --conflict, --uncoalesced, --occupancy: lists of METRIC=NUMBER with commas between.
std::vector<ProbeOption> fault_options();

/// Throws Error(bad_input) for a list that cannot be read, a number out of its range, and a metric
/// that is none of `metrics` or cannot have the fault.
Faults faults_of(const OptionValues& values, const std::map<std::string, Possible>& metrics);

/// `work` times the metric's factor, rounded; no factor: `work`. From a work of 1000 on
/// the factor is met to 0.05 %.
int slowed(int work, const Faults& faults, const std::string& metric);

/// The share of a fault that a metric has; 0 without one.
double share_of(const std::map<std::string, double>& fault, const std::string& metric);

}  // namespace fathom::gate_victim
