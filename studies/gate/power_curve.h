#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "studies/gate/simulation.h"

namespace fathom::gate {

/// "98.00 % (95.70 to 99.26 %)": the share and its interval.
std::string share_text(const Share& share);

}  // namespace fathom::gate
