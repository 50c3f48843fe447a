#include <CLI/CLI.hpp>

#include "fleet/commands/collect_command.h"
#include "fleet/commands/fleet_commands.h"
#include "fleet/commands/run_command.h"
#include "tools/program_commands.h"

namespace fathom {
namespace {

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

}  // namespace

std::vector<TopCommand> fleet_commands() {
  return {{.name = fleet_command.name,
           .summary = fleet_command.summary,
           .noun = "fleet command",
           .add_subcommands = add_fleet}};
}

}  // namespace fathom
