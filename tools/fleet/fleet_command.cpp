#include "tools/fleet/collect_command.h"
#include "tools/fleet/fleet_commands.h"
#include "tools/fleet/run_command.h"

namespace fathom {

Commands add_fleet(CLI::App& app) {
  app.footer(
      "Examples:\n"
      "  fathom fleet run                      all GPUs of this host\n"
      "  mpirun -n 8 fathom fleet run          one rank a GPU\n"
      "  fathom fleet collect /shared/fleet    what independent jobs left\n"
      "`fathom fleet COMMAND --help` says more.\n");
  Commands commands;
  auto& collect =
      *app.add_subcommand("collect", "Report of what independent jobs left in a folder");
  commands["collect"] = {&collect, add_collect(collect)};
  auto& run = *app.add_subcommand("run", "Measure every GPU of this host, or of all ranks");
  commands["run"] = {&run, add_fleet_run(run)};
  return commands;
}

}  // namespace fathom
