#pragma once

#include "tools/command.h"

namespace fathom {

/// Adds `shared`, `global`, ... to `fathom predict`: what should happen, computed without a GPU.
Commands add_predict(CLI::App& predict);

}  // namespace fathom
