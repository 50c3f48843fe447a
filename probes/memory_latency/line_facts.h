#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

/// Line sizes of the L1 and the L2, and what a miss of each brings along.
std::vector<Fact> line_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
