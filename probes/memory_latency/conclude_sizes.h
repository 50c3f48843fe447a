#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

/// Sizes from the curves of latency over working set: L1 by carve-out, L2 and its partition, the
/// constant caches, the reach of the TLBs and what a miss of theirs costs.
std::vector<Fact> size_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
