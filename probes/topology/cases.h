#pragma once

#include <vector>

#include "harness/cases.h"

// The cases of the sweep. Each gives an entry with a profile: one figure for each L2 line or SM,
// of one SM, or of all SMs one after the other.

namespace fathom::topology {

std::vector<Case> latency_cases(const DeviceFacts& device);     ///< an SM's latency to each line
std::vector<Case> cluster_cases(const DeviceFacts& device);     ///< which SMs clusters join
std::vector<Case> pair_cases(const DeviceFacts& device);        ///< how often clusters of two do

}  // namespace fathom::topology
