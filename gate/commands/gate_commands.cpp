#include "gate/commands/gate_commands.h"

#include "tools/program_commands.h"

namespace fathom {

std::vector<TopCommand> gate_commands() {
  return {{.name = check_command.name, .summary = check_command.summary, .add = add_check},
          {.name = baseline_command.name,
           .summary = baseline_command.summary,
           .noun = "baseline command",
           .add_subcommands = add_baseline},
          {.name = history_command.name, .summary = history_command.summary, .add = add_history}};
}

}  // namespace fathom
