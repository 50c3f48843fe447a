#include "gate/commands/gate_commands.h"

#include "gate/outputs.h"
#include "tools/command_line.h"

namespace fathom {
namespace {

/// The same commands, whose errors are the gate's.
std::vector<Command> with_gate_errors(std::vector<Command> commands) {
  for (Command& command : commands) {
    command.commands = with_gate_errors(std::move(command.commands));
    if (!command.add) continue;
    command.add = [add = command.add](CLI::App& app) {
      return [act = add(app)] {
        try {
          return act();
        } catch (const Error& error) {
          throw gate_error(error);
        }
      };
    };
  }
  return commands;
}

}  // namespace

Error gate_error(const Error& error) {
  const bool document =
      error.code() == ExitCode::document_malformed || error.code() == ExitCode::document_version;
  return {document ? ExitCode::bad_input : error.code(), gate::log_text(error.what())};
}

std::vector<Command> gate_commands() {
  return with_gate_errors(
      {{.name = check_command.name, .summary = check_command.summary, .add = add_check},
       {.name = baseline_command.name,
        .summary = baseline_command.summary,
        .noun = "baseline command",
        .footer = "Examples:\n"
                  "  fathom baseline add results/result.json --baseline baselines\n"
                  "  fathom baseline list --baseline baselines\n"
                  "  fathom baseline prune --baseline baselines --keep 50\n"
                  "  fathom baseline prune --baseline baselines            (files that hold no "
                  "run alone)\n",
        .commands = baseline_commands()},
       {.name = history_command.name, .summary = history_command.summary, .add = add_history},
       compare_results_command()});
}

}  // namespace fathom
