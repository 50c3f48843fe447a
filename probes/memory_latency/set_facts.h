#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

/// Ways of the L1 and the L2, or the evidence that their sets are hashed: how many lines of a wide
/// stride they keep; and the slices of the L2.
std::vector<Fact> set_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
