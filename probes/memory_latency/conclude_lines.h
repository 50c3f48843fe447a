#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

/// Line size and associativity of the L1, and what a miss of the L1 or the L2 brings along.
std::vector<Fact> line_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
