#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_bandwidth {

/// Bandwidth of every level by operation, in bytes per second and, of loads, in bytes per clock and
/// SM.
std::vector<Fact> level_facts(std::span<const Entry> entries);

/// What a level's bandwidth depends on: distributed shared memory by cluster size, the L2 by
/// instruction, working set and sharing; and DRAM's by its own counter.
std::vector<Fact> kind_facts(std::span<const Entry> entries);

/// How many SMs and how many bytes in flight saturate the L2 and DRAM. Needs a sweep that covers
/// it: the fewest measured must not be enough.
std::vector<Fact> saturation_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_bandwidth
