#pragma once

#include "tools/commands.h"

namespace fathom {

/// Understands the command line and runs the command that it names. Throws Error(bad_input) with
/// the closest known word for an unknown command or flag.
ExitCode run_command_line(int argc, const char* const* argv);

}  // namespace fathom
