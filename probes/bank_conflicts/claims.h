#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/probe.h"

namespace fathom::bank_conflicts {

std::vector<std::string> concluded_claims();

/// S1 to S6 and S8, from clocks and, where they were collected, from the counters.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::bank_conflicts
