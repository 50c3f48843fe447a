#pragma once

#include "fleet/fleet.h"

namespace fathom::fleet {

/// Takes out of a fleet the figures that no measurement gives: negative ones, and 0 where it is no
/// count or share. They are missing, and so is what a card's peers have and it has not: cards of
/// its model, suite and build, that were measured in the same parts and collect the same counters.
/// A card that misses a figure is incomplete. Of links the same, without peers.
void find_missing_figures(Fleet& fleet);

/// "missing: copy/best together (0 B/s is no measurement) and 2 more"
std::string missing_text(const std::vector<MissingFigure>& missing);

}  // namespace fathom::fleet
