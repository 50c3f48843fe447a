#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

/// Latency of every level in cycles and in seconds; the L2's near and far parts; distributed shared
/// memory by cluster size.
std::vector<Fact> latency_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
