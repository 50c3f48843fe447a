#pragma once

#include <vector>

#include "harness/cases.h"

namespace fathom::topology {

/// The latency of one SM, or of all SMs one after the other, to each of a set of L2 lines: the
/// entry's profile.
std::vector<Case> latency_cases(const DeviceFacts& device);

}  // namespace fathom::topology
