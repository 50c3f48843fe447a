#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::memory_bandwidth {

/// A fact without a value, and why.
Fact missing_fact(std::string id, std::string subject, std::string quantity, std::string unit,
                  std::string reason);

/// Bandwidth of every level by operation, in bytes per second and, of loads, in bytes per clock and
/// SM; of the L2 by instruction and working set as well; of DRAM also by its counter.
std::vector<Fact> level_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_bandwidth
