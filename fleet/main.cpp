// fathom-fleet: the program behind `fathom fleet`, which hands its command line over as it is.
#include "fleet/run/run.h"
#include "tools/command_line.h"

int main(int argc, char** argv) {
  return fathom::run_program(argc, argv, fathom::fleet_commands());
}
