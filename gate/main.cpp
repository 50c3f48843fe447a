// fathom-gate: the program behind `fathom check`, `baseline` and `history`, which hands its command
// line over as it is.
#include "gate/commands/gate_commands.h"
#include "tools/command_line.h"

int main(int argc, char** argv) {
  return fathom::run_program(argc, argv, fathom::gate_commands(), fathom::gate_error);
}
