#pragma once

#include "tools/command.h"

namespace fathom {

std::function<ExitCode()> add_fleet_run(CLI::App& app);

}  // namespace fathom
