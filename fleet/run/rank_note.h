#pragma once

#include <string>

#include "fleet/fleet.h"

namespace fathom {

/// What of a rank went wrong beside its GPUs' own summaries: left on disk by the supervisor of one
/// that died, sent to rank 0 by one that lives.
std::string note_text(int rank, const std::string& host, const std::string& reason, int exit_code);

/// The same as a problem of the fleet; of a note that cannot be read: that the rank died.
fleet::Problem problem_of_note(int rank, const std::string& text);

}  // namespace fathom
