#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>

#include "fleet/commands/fleet_commands.h"
#include "fleet/run/ranks.h"
#include "results/clean_text.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/utc_time.h"
#include "tools/suites.h"

namespace fathom {

void add_run_flags(CLI::App& app, FleetRunArguments& a) {
  word_flag(app, "--suite", a.suite, "What every GPU runs: a suite of `fathom list`", suite_names())
      ->capture_default_str();
  path_flag(app, "--out", a.report.out,
            "Folder of fleet.json, report and the GPUs' own documents; of several hosts on storage "
            "that they share (default: fathom-fleet-<UTC time>)",
            "DIR");
  word_flag(app, "--alone", a.alone,
            "What each GPU does while its host's others are idle, before all do the same: brief "
            "(the host's link and one copy, seconds), full (the suite), none",
            {"brief", "full", "none"}, "WHAT")
      ->capture_default_str();
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
               "Seconds after which a part of a GPU's run is ended", seconds(), "SECONDS")
      ->capture_default_str();
  checked_flag(app, "--wait", a.wait_s,
               "Seconds for which rank 0 waits for the others once it is done itself", seconds(),
               "SECONDS")
      ->capture_default_str();
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

void complete(FleetRunArguments& a) {
  // A list of the nodes of a job has Slurm's names, which need not be the machines' own.
  if (a.host_name.empty()) a.host_name = slurm_node();
  if (a.host_name.empty()) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) a.host_name = name.data();
    if (a.host_name.empty()) a.host_name = "host";
  }
  const bool control = std::ranges::any_of(a.host_name, [](unsigned char c) { return iscntrl(c); });
  if (a.host_name.find('/') != std::string::npos || a.host_name.starts_with('.') || control)
    fail(ExitCode::bad_input, "`{}` cannot be a host's name, since files are named for it.",
         quotable(a.host_name));
  if (a.report.out.empty())
    a.report.out = "fathom-fleet-" + utc_time_for_names(std::chrono::system_clock::now());
  a.report.out = std::filesystem::absolute(a.report.out).lexically_normal();
}

}  // namespace fathom
