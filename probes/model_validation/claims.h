#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::model_validation {

/// How many patterns and configurations differ from their models. No claim of its own: other probes
/// put to the test what is claimed of shared memory and occupancy, this one whether the models that
/// they expect by hold beyond their own cases.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::model_validation
