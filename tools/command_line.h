#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/command.h"

namespace fathom {

/// A command: what stands behind the first word of a command line.
struct TopCommand {
  std::string name, summary;
  std::string program = {};  ///< the one beside this that has the command; empty: this one
  AddCommand add = {};       ///< empty where it only has subcommands
  std::string noun = {};  ///< what its subcommands are called
  std::function<Commands(CLI::App&)> add_subcommands = {};
  std::vector<std::string>* benchmark_flags = nullptr;  ///< gets Google Benchmark's, if it has any
};

/// Understands the command line and runs the command that it names, here or in the program that has
/// it. Throws Error(bad_input) with the closest known word for an unknown command or flag, and
/// Error(setup_incomplete) where a program is missing. Where `describe` is given, it gets the whole
/// command line instead, and nothing runs.
ExitCode run_command_line(int argc, const char* const* argv,
                          const std::vector<TopCommand>& commands,
                          const std::function<void(CLI::App&)>& describe = {});

/// Becomes the program beside this one that has the command, with this command line. Returns only
/// by throwing Error(setup_incomplete).
[[noreturn]] void hand_over(const std::string& program, const std::string& command,
                            const char* const* argv);

/// The same as a whole program: errors are told on standard error, and become exit codes.
int run_program(int argc, const char* const* argv, const std::vector<TopCommand>& commands);

}  // namespace fathom
