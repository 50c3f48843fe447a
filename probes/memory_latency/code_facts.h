#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

/// Sizes of the constant caches, and of the instruction caches with what an instruction from each
/// costs.
std::vector<Fact> code_and_constant_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
