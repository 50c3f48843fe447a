#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_bandwidth {

/// Bandwidth of every level by operation, in bytes per second and, of loads, in bytes per clock and
/// SM.
std::vector<Fact> level_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_bandwidth
