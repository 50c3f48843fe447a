#pragma once

#include <functional>

#include "tools/commands.h"

namespace CLI {
class App;
}

namespace fathom {

/// Understands the command line and runs the command that it names. Throws Error(bad_input) with
/// the closest known word for an unknown command or flag. Where `describe` is given, it gets the
/// whole command line instead, and nothing runs.
ExitCode run_command_line(int argc, const char* const* argv,
                          const std::function<void(CLI::App&)>& describe = {});

}  // namespace fathom
