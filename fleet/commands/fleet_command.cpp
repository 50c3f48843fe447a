#include <CLI/CLI.hpp>
#include <memory>

#include "fleet/commands/fleet_commands.h"
#include "fleet/run/rank_note.h"
#include "results/flag_checks.h"
#include "tools/program_commands.h"

namespace fathom {
namespace {

struct CollectArguments {
  std::string folder;
  FleetReportArguments report;
};

ExitCode collect(CollectArguments arguments) {
  if (arguments.report.out.empty()) arguments.report.out = arguments.folder;
  const fleet::Expected expected = expected_of(arguments.report);
  fleet::Fleet fleet = fleet::read_fleet(arguments.folder, expected);
  add_rank_problems(fleet, problems_of_notes({arguments.folder}));
  return publish_fleet(fleet, arguments.report);
}

std::function<ExitCode()> add_collect(CLI::App& app) {
  const auto arguments = std::make_shared<CollectArguments>();
  app.add_option("DIR", arguments->folder,
                 "Folder that the jobs wrote into, looked through with all below")
      ->check(not_empty())
      ->required();
  app.add_option("--out", arguments->report.out,
                 "Folder of fleet.json and the report (default: DIR)")
      ->check(not_empty())
      ->type_name("DIR");
  add_report_flags(app, arguments->report);
  app.footer(
      "Reads what `fathom fleet run` or `fathom run` left there, one host after the other or all "
      "at once. Half-written files and missing hosts are reported, and cost only their own figures "
      "(exit code 5).\n\n"
      "Examples:\n"
      "  fathom fleet collect /shared/fleet\n"
      "  fathom fleet collect /shared/fleet --expect-hosts hosts.txt --out report\n"
      "  fathom fleet collect /shared/fleet --host node0815\n");
  return [arguments] { return collect(*arguments); };
}

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
