#pragma once

#include <vector>

#include "fleet/run/measure.h"

namespace fathom {

/// What supervisors of ranks that died have left in a folder, but of those that were done before.
std::vector<fleet::Problem> problems_of_notes(const FleetFolder& folder);

/// Adds what went wrong with ranks to a fleet: to the row of the rank's GPU where it has one that
/// is not complete, since one death is one problem.
void add_rank_problems(fleet::Fleet& fleet, const std::vector<fleet::Problem>& problems);

}  // namespace fathom
