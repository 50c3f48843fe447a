#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::launch_overhead {

/// Every fact of the probe, with a value or with the reason why it has none.
std::vector<Fact> launch_facts(std::span<const Entry> entries);

}  // namespace fathom::launch_overhead
