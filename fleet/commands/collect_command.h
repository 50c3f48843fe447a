#pragma once

#include "tools/command.h"

namespace fathom {

std::function<ExitCode()> add_collect(CLI::App& app);

}  // namespace fathom
