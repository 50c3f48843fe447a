#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::energy {

/// Power at rest; for each loop its energy less the active idle's, and gross; and the ladder of them.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::energy
