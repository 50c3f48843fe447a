#include <CLI/CLI.hpp>

#include "fleet/commands/fleet_commands.h"
#include "fleet/run/rank_note.h"
#include "results/flag_checks.h"
#include "tools/program_commands.h"

namespace fathom {
namespace {

struct CollectArguments : FleetReportArguments {
  std::string folder;
};

ExitCode collect(const CollectArguments& arguments) {
  FleetReportArguments report = arguments;
  if (report.out.empty()) report.out = arguments.folder;
  fleet::Fleet fleet = fleet::read_fleet(arguments.folder, expected_of(report));
  add_rank_problems(fleet, arguments.folder, read_note(arguments.folder, 0));
  return publish_fleet(fleet, report);
}

void add_collect_flags(CLI::App& app, CollectArguments& arguments) {
  app.add_option("DIR", arguments.folder,
                 "Folder that the jobs wrote into, looked through with all below")
      ->check(not_empty())
      ->required();
  path_flag(app, "--out", arguments.out, "Folder of fleet.json and the report (default: DIR)",
            "DIR");
  add_report_flags(app, arguments);
  app.footer(
      "Reads what `fathom fleet run` or `fathom run` left there, one host after the other or all "
      "at once. Half-written files and missing hosts are reported, and cost only their own figures "
      "(exit code 5).\n\n"
      "Examples:\n"
      "  fathom fleet collect /shared/fleet\n"
      "  fathom fleet collect /shared/fleet --expect-hosts hosts.txt --out report\n"
      "  fathom fleet collect /shared/fleet --host node0815\n");
}

}  // namespace

std::vector<Command> fleet_commands() {
  return {{.name = fleet_command.name,
           .summary = fleet_command.summary,
           .noun = "fleet command",
           .footer = "Examples:\n"
                     "  fathom fleet run                      all GPUs of this host\n"
                     "  mpirun -n 8 fathom fleet run          one rank a GPU\n"
                     "  fathom fleet collect /shared/fleet    what independent jobs left\n"
                     "`fathom fleet COMMAND --help` says more.\n",
           .commands = {{.name = "collect",
                         .summary = "Report of what independent jobs left in a folder",
                         .add = with_arguments(add_collect_flags, collect)},
                        {.name = "run",
                         .summary = "Measure every GPU of this host, or of all ranks",
                         .add = with_arguments(add_run_flags, fleet_run)}}}};
}

}  // namespace fathom
