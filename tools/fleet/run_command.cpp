#include "tools/fleet/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "reports/fleet/fleet.h"
#include "results/atomic_file.h"
#include "results/error.h"
#include "tools/fleet/launcher.h"
#include "tools/fleet/measure.h"
#include "tools/fleet/rank_note.h"
#include "tools/fleet/run_arguments.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

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

/// A note beside the documents: why this rank left none, or not all.
void leave_note(const FleetFolder& folder, const Launcher& launcher, const std::string& host,
                const std::string& reason) {
  try {
    make_folder(folder.root / "ranks");
    write_file_atomically(folder.rank_note(launcher.rank),
                          note_text(launcher.rank, host, reason, to_int(ExitCode::incomplete)));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: rank {}: {}\n", launcher.rank, error.what());
  }
}

std::optional<fs::file_time_type> written_at(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

/// The supervisor of a rank that died must not end before the others: launchers take the whole job
/// down for a rank that ends without MPI_Finalize. Rank 0, or the launcher, says when they are
/// done; `before`: when rank 0 of an earlier run did.
void outlive_the_others(const FleetFolder& folder, int ranks,
                        const std::optional<fs::file_time_type>& before, SignalInbox& inbox,
                        double limit_s) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
  while (inbox.interrupts() == 0 && Clock::now() < deadline) {
    const auto now = written_at(folder.all_done());
    if ((now && now != before) || folder.all_ended_without_first(ranks)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    inbox.drain();
  }
}

/// How the MPI program ended, where that is its death: by a signal, or, with other ranks waiting
/// for it, by an error after they were connected.
std::optional<std::string> death_of(const ProcessEnd& end, int rank) {
  if (end.signal != 0) return "it was ended by " + end.describe();
  const bool alike =  // all ranks end with it, or the user has ended them
      end.status == 0 || end.status == to_int(ExitCode::setup_incomplete) ||
      end.status == to_int(ExitCode::interrupted);
  if (rank == 0 || alike) return std::nullopt;
  return "it ended with " + end.describe();
}

/// One rank of several: the MPI program does the work, and this process, which has no MPI in it,
/// sees to it that its death is known and takes nobody with it.
ExitCode supervise_rank(const FleetRunArguments& arguments, const Launcher& launcher) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "fathom-fleet-rank";
  if (!fs::exists(program))
    throw Error(
        ExitCode::setup_incomplete,
        fmt::format("{} started {} ranks, and this Fathom was built without MPI: install "
                    "libopenmpi-dev (or libmpich-dev) and build again, start one process a host "
                    "without a launcher, or give each `--part` and collect afterwards.",
                    launcher.name, launcher.size));
  const FleetFolder folder{arguments.report.out};
  const auto before = written_at(folder.all_done());
  std::error_code ignored;
  fs::remove(folder.rank_note(launcher.rank), ignored);
  fs::remove(folder.rank_done(launcher.rank), ignored);
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  SupervisedEnd end;
  {
    ChildProcess rank(
        {program, flags_of(arguments), STDOUT_FILENO, STDERR_FILENO, std::nullopt, {}, {}});
    // The parts have their own limits; a rank that hangs beyond them is rank 0's to give up.
    end = supervise(rank, inbox, {.limit = std::chrono::hours(24 * 7), .line = {}});
  }
  const auto death = death_of(end.end, launcher.rank);
  if (!death) return static_cast<ExitCode>(end.end.status);
  if (inbox.interrupts() > 0) return ExitCode::interrupted;
  leave_note(folder, launcher, arguments.host_name, *death);
  if (launcher.rank == 0) {
    // The one that reports is gone: what the others leave is still there to be collected.
    fmt::print(
        stderr,
        "fathom: rank 0 was ended by {}: once the others are done, `fathom fleet collect {}` "
        "makes the report.\n",
        end.end.describe(), folder.root.string());
  }
  const double limit_s = 3 * arguments.time_limit_s + arguments.wait_s;
  outlive_the_others(folder, launcher.size, before, inbox, limit_s);
  return ExitCode::incomplete;
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
