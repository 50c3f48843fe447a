#pragma once

#include "fleet/fleet.h"

namespace fathom::fleet {

/// Several machines may have one name ("localhost", as containers have it): each but the first gets
/// a number behind it, in its GPUs and its links, and a problem says so. Two machines that had the
/// same GPU are one that was restarted meanwhile. What does not know its machine keeps its name.
void tell_machines_apart(Fleet& fleet);

}  // namespace fathom::fleet
