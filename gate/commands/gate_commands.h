#pragma once

#include <vector>

#include "results/error.h"
#include "tools/command_line.h"

namespace fathom {

/// What the program fathom-gate has. What is wrong with a document ends them as `gate_error` says.
std::vector<Command> gate_commands();

// Each adds its flags to `app` and returns what it does.

std::function<ExitCode()> add_check(CLI::App& app);
std::function<ExitCode()> add_history(CLI::App& app);

/// `compare` of two files of another tool.
Command compare_results_command();

/// `baseline add`, `baseline list`, `baseline prune`.
std::vector<Command> baseline_commands();

/// The same as text for a log, since errors quote files and logs. A document that is malformed or
/// of another version is bad input: the exit codes of the gate are few.
Error gate_error(const Error& error);

}  // namespace fathom
