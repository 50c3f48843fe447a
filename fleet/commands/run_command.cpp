#include <fmt/format.h>

#include <filesystem>

#include "fleet/commands/fleet_commands.h"
#include "fleet/fleet.h"
#include "fleet/run/claims.h"
#include "fleet/run/launcher.h"
#include "fleet/run/measure.h"
#include "results/fail.h"
#include "results/format.h"
#include "results/standard_streams.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<GpuJob> jobs_of_host(const FleetRunArguments& arguments) {
  std::vector<GpuJob> jobs;
  const std::string& host = arguments.host_name;
  if (arguments.replay) {
    const auto gpus = static_cast<std::size_t>(arguments.gpus);
    // Parts that a launcher starts are all of one host, as far as anybody knows.
    const auto launcher = find_launcher();
    const std::size_t first =
        launcher && arguments.part ? gpus * static_cast<std::size_t>(launcher->rank) : 0;
    while (jobs.size() < gpus) jobs.push_back(job_of(std::nullopt, host, first + jobs.size()));
    return jobs;
  }
  const auto gpus = query_gpus(program_folder());
  for (const VisibleGpu& gpu : gpus) {
    jobs.push_back(job_of(gpu, host, jobs.size()));
    jobs.back().only_visible = gpus.size() == 1;
  }
  return jobs;
}

/// Several jobs may write into one folder: each GPU has a place of its own there, which is held as
/// long as what comes back. A GPU that another job measures now is left to it, and told.
std::vector<FileDescriptor> claim_folders(const FleetFolder& folder, std::vector<GpuJob>& jobs,
                                          std::vector<fleet::Problem>& problems) {
  std::vector<FileDescriptor> places;
  std::erase_if(jobs, [&](GpuJob& job) {
    auto place = claim_folder(folder, job);
    if (place)
      places.push_back(std::move(*place));
    else
      problems.push_back(
          {name_of(job.summary),
           fmt::format("another job measures {} into this folder now", name_of(job.summary)),
           to_int(ExitCode::gpu_busy)});
    return !place;
  });
  // Those that are left take turns among themselves, and share the counters.
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].place = i;
  return places;
}

/// All GPUs of this host from this one process.
ExitCode run_host(const FleetRunArguments& arguments) {
  std::vector<GpuJob> jobs = jobs_of_host(arguments);
  const std::string this_run = new_run();
  for (GpuJob& job : jobs) job.summary.run = this_run;
  const FleetFolder folder{arguments.report.out};
  make_folder(folder.root);
  std::vector<fleet::Problem> problems;
  const auto places = claim_folders(folder, jobs, problems);
  if (jobs.empty() && !arguments.part)  // whose report is not to be overwritten
    fail(ExitCode::gpu_busy,
         "Another run measures these GPUs into {} now: wait for its end, or choose another folder "
         "with --out.",
         folder.root.string());
  print_line(fmt::format(
      "{} {} of {}, suite {}, into {}.", arguments.replay ? "Replaying on" : "Measuring",
      counted(jobs.size(), "GPU"), arguments.host_name, arguments.suite, folder.root.string()));
  Host own{.gpus = jobs.size()};
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  for (fleet::Problem& unwritten : HostMeasurement(arguments, folder, jobs, own, inbox).run())
    problems.push_back(std::move(unwritten));
  const bool interrupted = inbox.interrupts() > 0;
  ExitCode code = ExitCode::ok;
  if (arguments.part) {
    for (const GpuJob& job : jobs) {
      const int own = job.summary.exit_code;
      if (own != 0 && code != ExitCode::incomplete)
        code =
            own == to_int(ExitCode::check_failed) ? ExitCode::check_failed : ExitCode::incomplete;
    }
    for (const fleet::Problem& problem : problems) {
      fmt::print(stderr, "fathom: {}\n", problem.reason);
      code = static_cast<ExitCode>(problem.exit_code);
    }
    print_line(fmt::format("Documents: {}; once all jobs are done: fathom fleet collect {}",
                           folder.root.string(), folder.root.string()));
  } else {
    fleet::Expected expected = expected_of(arguments.report);
    expected.run = this_run;
    fleet::Fleet fleet = fleet::read_fleet(folder.root, expected);
    fleet.problems.insert(fleet.problems.end(), problems.begin(), problems.end());
    code = publish_fleet(fleet, arguments.report);
  }
  return interrupted ? ExitCode::interrupted : code;
}

}  // namespace

ExitCode fleet_run(const FleetRunArguments& given) {
  FleetRunArguments arguments = given;
  complete(arguments);
  expected_of(arguments.report);  // a list that cannot be read is to be known now
  const auto launcher = find_launcher();
  if (launcher && !arguments.part) return run_rank(arguments, *launcher);
  return run_host(arguments);
}

}  // namespace fathom
