#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_bandwidth {

/// What a level's bandwidth depends on: distributed shared memory by cluster size, the L2 by
/// instruction, working set and sharing; and DRAM's by its own counter.
std::vector<Fact> kind_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_bandwidth
