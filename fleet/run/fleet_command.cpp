#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <sstream>

#include "fleet/run/run.h"
#include "results/error.h"
#include "results/flag_checks.h"
#include "tools/programs.h"

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

void add_report_flags(CLI::App& app, FleetReportArguments& arguments) {
  number_flag(app, "--expect-gpus", arguments.expect_gpus, "How many GPUs there should be", 1,
              10'000'000);
  path_flag(app, "--expect-hosts", arguments.expect_hosts,
            "File with the names of the hosts there should be, one a line");
  app.add_option("--host", arguments.hosts,
                 "Make a page of this host; may be given several times (default: of all where "
                 "there are eight or fewer)")
      ->type_name("NAME");
  checked_flag(app, "--least-gap", arguments.least_gap_percent,
               "Smallest gap for which a card is named, in percent", positive_number(), "PERCENT");
  checked_flag(app, "--card-noise", arguments.card_noise_percent,
               "Assumed standard deviation between healthy cards of one model, in percent; it "
               "matters where few are measured",
               positive_number(), "PERCENT");
  app.add_flag("--strict", arguments.strict,
               "End with exit code 1 if a card is named and nothing is missing");
  app.add_flag("--no-report", arguments.no_report, "Write fleet.json only");
}

void add_collect_flags(CLI::App& app, CollectArguments& arguments) {
  path_flag(app, "DIR", arguments.folder,
            "Folder that the jobs wrote into, looked through with all below", "TEXT")
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

void add_run_flags(CLI::App& app, FleetRunArguments& a) {
  word_flag(app, "--suite", a.suite, "What every GPU runs: a suite of `fathom list`",
            names_of(run_suites));
  path_flag(app, "--out", a.report.out,
            "Folder of fleet.json, report and the GPUs' own documents; of several hosts on storage "
            "that they share (default: fathom-fleet-<UTC time>)",
            "DIR");
  word_flag(app, "--alone", a.alone,
            "What each GPU does while its host's others are idle, before all do the same: brief "
            "(the host's link and one copy, seconds), full (the suite), none",
            {"brief", "full", "none"}, "WHAT");
  app.add_flag(
      "--part", a.part,
      "One of several independent jobs: leave documents, and let `fathom fleet collect` report");
  checked_flag(app, "--host-name", a.host_name,
               "Name of this host in the report (default: the machine's)", not_empty("a name"),
               "NAME");
  app.add_flag("--no-links", a.no_links, "Do not measure what links the GPUs of a host");
  app.add_flag("--no-counters", a.no_counters,
               "Collect no hardware counters. Without this flag one GPU of a host collects each "
               "probe's, in turn.");
  app.add_flag("--replay", a.replay, "Replay the recording on every rank: nothing is measured");
  checked_flag(app, "--time-limit", a.time_limit_s,
               "Seconds after which a part of a GPU's run is ended", seconds(), "SECONDS");
  checked_flag(app, "--wait", a.wait_s,
               "Seconds for which rank 0 waits for the others once it is done itself", seconds(),
               "SECONDS");
  add_report_flags(app, a.report);
  app.footer(
      "Under mpirun or srun each rank takes one GPU of its host, bound to the CPUs that are near "
      "it, and rank 0 gathers what they found. Without a launcher one process measures all GPUs of "
      "this host. A rank that dies, hangs or has no permission costs its own figures only (exit "
      "code 5).\n\n"
      "Examples:\n"
      "  fathom fleet run --out fleet                          all GPUs of this host\n"
      "  mpirun -n 8 fathom fleet run --suite quick --out fleet\n"
      "  srun fathom fleet run --out /shared/fleet\n"
      "  fathom fleet run --part --out /shared/fleet           one of several independent jobs\n");
}

}  // namespace

fleet::Expected expected_of(const FleetReportArguments& arguments) {
  fleet::Expected expected;
  expected.gpus = arguments.expect_gpus;
  if (arguments.expect_hosts.empty()) return expected;
  constexpr std::size_t largest = std::size_t{16} << 20;  // a list of hosts is not longer
  std::istringstream lines(read_file_up_to(arguments.expect_hosts, largest));
  for (std::string line; std::getline(lines >> std::ws, line);)
    if (!line.starts_with('#'))
      expected.hosts.push_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
  return expected;
}

ExitCode exit_code_of(const fleet::Fleet& fleet) {
  std::set<int> causes;
  for (const fleet::Problem& problem : fleet.problems)
    if (problem.exit_code != 0) causes.insert(problem.exit_code);
  if (causes.empty()) return ExitCode::ok;
  const auto cause = static_cast<ExitCode>(*causes.begin());
  const bool any_figures = std::ranges::any_of(
      fleet.gpus, [](const fleet::GpuSummary& gpu) { return !gpu.figures.empty(); });
  const bool tells = causes.size() == 1 && (!any_figures || cause == ExitCode::check_failed);
  return tells ? cause : ExitCode::incomplete;
}

ExitCode publish_fleet(const fleet::Fleet& fleet, const FleetReportArguments& arguments) {
  const fleet::Outliers outliers =
      find_outliers(fleet, {.least_gap = arguments.least_gap_percent / 100,
                            .card_noise = arguments.card_noise_percent / 100});
  const auto document = arguments.out / "fleet.json", report = arguments.out / "report";
  if (!arguments.expect_hosts.empty())
    require_distinct({{"--expect-hosts", arguments.expect_hosts}},
                     {{"the document", document}, {"the report", report / "README.md"}});
  make_folder(arguments.out);
  write_file_atomically(document, fleet_document(fleet, outliers));
  fmt::print("{}Document: {}\n", fleet_summary(fleet, outliers), document.string());
  if (!arguments.no_report) {
    make_folder(report);
    fmt::print("Report: {}\n",
               write_fleet_report(fleet, outliers, report, arguments.hosts).front().string());
  }
  const ExitCode code = exit_code_of(fleet);
  if (code != ExitCode::ok) return code;
  return arguments.strict && outliers.named() > 0 ? ExitCode::check_failed : ExitCode::ok;
}

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
