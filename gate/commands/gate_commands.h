#pragma once

#include <vector>

#include "tools/command_line.h"

namespace fathom {

/// What the program fathom-gate has.
std::vector<Command> gate_commands();

// Each adds its flags to `app` and returns what it does.

std::function<ExitCode()> add_check(CLI::App& app);
std::function<ExitCode()> add_compare(CLI::App& app);
std::function<ExitCode()> add_history(CLI::App& app);

/// `baseline add`, `baseline list`, `baseline prune`.
std::vector<Command> baseline_commands();

/// Does what reads documents; one that is malformed or of another version is bad input here, since
/// the exit codes of the gate are few. Errors quote files and logs: they become text for a log.
ExitCode with_gate_codes(const std::function<ExitCode()>& act);

}  // namespace fathom
