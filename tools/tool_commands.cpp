#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/predict/predict.h"

namespace fathom {

std::vector<Command> tool_commands() {
  std::vector<Command> commands{run_command(),       list_command(),    doctor_command(),
                                report_command(),    compare_command(), export_command(),
                                recording_command(), predict_command()};
  commands.insert(commands.end(), std::begin(program_commands), std::end(program_commands));
  return commands;
}

}  // namespace fathom
