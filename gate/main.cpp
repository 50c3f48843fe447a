// fathom-gate: the program behind `fathom check`, `baseline` and `history`, which hands its command
// line over as it is.
#include "gate/commands/commands.h"

int main(int argc, char** argv) {
  return fathom::run_program(argc, argv, fathom::gate_commands(), fathom::gate_error);
}
