#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::links {

/// Facts of the host's link, of pairs of GPUs and of collectives; those that this machine cannot have
/// say why.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::links
