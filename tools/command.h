#pragma once

#include <functional>
#include <map>
#include <string>

#include "results/exit_codes.h"

namespace CLI {
class App;
}

namespace fathom {

/// A word of the command line that names something to do, with its flags and what it does.
struct Command {
  CLI::App* app;
  std::function<ExitCode()> act;
};
using Commands = std::map<std::string, Command>;

}  // namespace fathom
