#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::occupancy_probe {

/// O1 to O4 from bandwidth, the model's and the driver's resident blocks, and achieved occupancy.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::occupancy_probe
