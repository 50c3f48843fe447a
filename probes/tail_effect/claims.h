#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::tail_effect {

/// T1: does a grid of 1.5 waves cost as much as one of 2, and for which kind of block?
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::tail_effect
