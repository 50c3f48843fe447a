#include "tools/fleet/run_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "reports/fleet/fleet.h"
#include "results/error.h"
#include "tools/fleet/launcher.h"
#include "tools/fleet/measure.h"
#include "tools/fleet/rank_supervisor.h"
#include "tools/fleet/run_arguments.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// The only process of its host.
class NoTurns : public HostTurns {
 public:
  explicit NoTurns(int gpus) : gpus_(gpus) {}
  int gpus() const override { return gpus_; }
  bool leader() const override { return true; }
  bool all_here() override { return true; }

 private:
  int gpus_;
};

std::vector<GpuJob> jobs_of_host(const FleetRunArguments& arguments) {
  std::vector<GpuJob> jobs;
  const std::string& host = arguments.host_name;
  if (arguments.replay) {
    for (int i = 0; i < arguments.gpus; ++i) jobs.push_back(replay_job(host, i, i, std::nullopt));
    return jobs;
  }
  const auto gpus = query_gpus(program_folder());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    jobs.push_back(job_of(gpus[i], host, static_cast<int>(i), static_cast<int>(i), std::nullopt));
    jobs.back().only_visible = gpus.size() == 1;
    jobs.back().place = i;
    jobs.back().measured = gpus.size();
  }
  return jobs;
}

/// All GPUs of this host from this one process.
ExitCode run_host(const FleetRunArguments& arguments) {
  std::vector<GpuJob> jobs = jobs_of_host(arguments);
  const FleetFolder folder{arguments.report.out};
  make_folder(folder.root);
  say(fmt::format("{} {} GPU{} of {}, suite {}, into {}.",
                  arguments.replay ? "Replaying on" : "Measuring", jobs.size(),
                  jobs.size() == 1 ? "" : "s", arguments.host_name, arguments.suite,
                  folder.root.string()));
  NoTurns turns(static_cast<int>(jobs.size()));
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  HostMeasurement measurement(arguments, folder, jobs, turns, inbox);
  measurement.run();
  const bool interrupted = inbox.interrupts() > 0;
  ExitCode code = ExitCode::ok;
  if (arguments.part) {
    for (const GpuJob& job : jobs)
      if (job.summary.exit_code != 0) code = ExitCode::incomplete;
    for (const fleet::Problem& problem : measurement.problems()) {
      fmt::print(stderr, "fathom: {}\n", problem.reason);
      code = static_cast<ExitCode>(problem.exit_code);
    }
    say(fmt::format("Documents: {}; once all jobs are done: fathom fleet collect {}",
                    folder.root.string(), folder.root.string()));
  } else {
    fleet::Fleet fleet = fleet::read_fleet(folder.root, expected_of(arguments.report));
    for (const fleet::Problem& problem : measurement.problems()) fleet.problems.push_back(problem);
    code = publish_fleet(fleet, arguments.report);
  }
  return interrupted ? ExitCode::interrupted : code;
}

ExitCode run(FleetRunArguments arguments) {
  complete(arguments);
  expected_of(arguments.report);  // a list that cannot be read is to be known now
  const auto launcher = find_launcher();
  if (launcher && !arguments.part) return supervise_rank(arguments, *launcher);
  return run_host(arguments);
}

}  // namespace

std::function<ExitCode()> add_fleet_run(CLI::App& app) {
  const auto arguments = std::make_shared<FleetRunArguments>();
  add_run_flags(app, *arguments);
  app.footer(
      "Under mpirun or srun each rank takes one GPU of its host, bound to the CPUs that are near "
      "it, and "
      "rank 0 gathers what they found. Without a launcher one process measures all GPUs of this "
      "host. A "
      "rank that dies, hangs or has no permission costs its own figures only (exit code 5).\n\n"
      "Examples:\n"
      "  fathom fleet run --out fleet                          all GPUs of this host\n"
      "  mpirun -n 8 fathom fleet run --suite quick --out fleet\n"
      "  srun fathom fleet run --out /shared/fleet\n"
      "  fathom fleet run --part --out /shared/fleet           one of several independent jobs\n");
  return [arguments] { return run(*arguments); };
}

}  // namespace fathom
