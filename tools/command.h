#pragma once

#include <functional>
#include <map>
#include <memory>
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

/// Adds a command's flags, and returns what it does once they are parsed.
using AddCommand = std::function<std::function<ExitCode()>(CLI::App&)>;

/// One with arguments of its own, which live in what it returns: that outlives the parsing.
template <class Arguments>
AddCommand with_arguments(void (*add)(CLI::App&, Arguments&), ExitCode (*act)(const Arguments&)) {
  return [add, act](CLI::App& app) {
    const auto arguments = std::make_shared<Arguments>();
    add(app, *arguments);
    return [arguments, act] { return act(*arguments); };
  };
}

}  // namespace fathom
