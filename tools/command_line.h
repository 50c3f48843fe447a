#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "results/error.h"

namespace CLI {
class App;
}

namespace fathom {

/// Adds a command's flags, and returns what it does once they are parsed.
using AddCommand = std::function<std::function<ExitCode()>(CLI::App&)>;

/// A word of the command line that names something to do.
struct Command {
  std::string name, summary;
  std::string program = {};  ///< the one beside this that has the command; empty: this one
  AddCommand add = {};       ///< empty where it only has commands of its own
  std::string noun = {};     ///< what those are called
  std::string footer = {};   ///< of its help; a command that has flags sets its own in `add`
  std::vector<Command> commands = {};
};

// Commands that a program of its own has, so that nobody builds it who does not use it.

inline const Command check_command{"check", "Fail if something got slower: two builds, or a result",
                                   "fathom-gate"};
inline const Command baseline_command{"baseline", "Keep earlier results that `check` compares with",
                                      "fathom-gate"};
inline const Command history_command{"history", "Find what changed over many earlier results",
                                     "fathom-gate"};
inline const Command fleet_command{
    "fleet", "Many GPUs: which one is slow, and what their links carry", "fathom-fleet"};
inline const Command explain_command{
    "explain", "Why a program's kernels are slow, by source line, without counters",
    "fathom-explain"};

inline const Command program_commands[] = {check_command, baseline_command, history_command,
                                           fleet_command, explain_command};

/// One with arguments of its own, which live in what it returns: that outlives the parsing.
template <class Arguments>
AddCommand with_arguments(void (*add)(CLI::App&, Arguments&), ExitCode (*act)(const Arguments&)) {
  return [add, act](CLI::App& app) {
    const auto arguments = std::make_shared<Arguments>();
    add(app, *arguments);
    return [arguments, act] { return act(*arguments); };
  };
}

/// A program's main: understands the command line and runs the command that it names, here or in
/// the program that has it. Errors are told on standard error, and become exit codes; an unknown
/// word is answered with the closest known one. `as_told` may change an error before it is told.
int run_program(int argc, const char* const* argv, const std::vector<Command>& commands,
                Error (*as_told)(const Error&) = nullptr);

/// Becomes the program beside this one that has the command, with the command line that run_program
/// was given. Returns only by throwing Error(setup_incomplete).
[[noreturn]] void hand_over(const std::string& program, const std::string& command);

}  // namespace fathom
