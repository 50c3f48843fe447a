#pragma once

#include <string>

namespace fathom::keys {

/// The object, in `context`, in each of `benchmarks` and at the top, in which Fathom's own part is.
inline const std::string own = "fathom";

/// What the names of a replay's entries begin with on disk.
inline const std::string replay_prefix = "REPLAY/";

}  // namespace fathom::keys
