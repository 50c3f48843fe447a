#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_bandwidth {

/// How many SMs and how many bytes in flight saturate the L2 and DRAM. Needs a sweep that covers
/// it: the fewest measured must not be enough.
std::vector<Fact> saturation_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_bandwidth
