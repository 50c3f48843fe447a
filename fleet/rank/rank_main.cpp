// fathom-fleet-rank: one rank of `fathom fleet run`, which starts and supervises it. The only
// program with MPI in it; what it measures, its children measure.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "fleet/fleet.h"
#include "results/error.h"
#include "results/flag_checks.h"
#include "fleet/rank/gathered.h"
#include "fleet/run/launcher.h"
#include "fleet/run/machine.h"
#include "fleet/rank/mpi_ranks.h"
#include "fleet/rank/rank_jobs.h"
#include "fleet/run/rank_link.h"
#include "fleet/run/rank_note.h"
#include "fleet/run/rank_problems.h"
#include "fleet/rank/rank_storage.h"
#include "fleet/commands/run_arguments.h"
#include "tools/probe_binaries.h"

namespace {

using namespace fathom;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Ends the process where MPI_Finalize would wait for a rank that is gone.
[[noreturn]] void leave(ExitCode code) {
  std::fflush(stdout);
  std::fflush(stderr);
  _exit(to_int(code));
}

/// Ends this rank where the others do not come: one of them may have ended before MPI connected
/// them, and a launcher that lets others go on then would have them wait for it for ever.
class SetupWatch {
 public:
  SetupWatch()
      : thread_([](const std::stop_token& done) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any changed;
          if (changed.wait_for(lock, done, limit, [&] { return done.stop_requested(); })) return;
          if (done.stop_requested()) return;
          fmt::print(
              stderr,
              "fathom: not all ranks came together within {} s: see what the others say, and "
              "start again.\n",
              limit.count());
          leave(ExitCode::setup_incomplete);
        }) {}

 private:
  static constexpr std::chrono::seconds limit{300};
  std::jthread thread_;
};

ExitCode report(const FleetRunArguments& arguments, const std::string& this_run, const MpiJob& job,
                const Gathered& gathered) {
  fleet::Expected expected = expected_of(arguments.report);
  expected.run = this_run;
  fleet::Fleet fleet = fleet::read_fleet(arguments.report.out, expected);
  add_rank_problems(fleet, gathered.problems);
  const ExitCode code = publish_fleet(fleet, arguments.report);
  if (!gathered.gone().empty())
    fmt::print("{} of {} ranks did not answer; what they left before is in the report.\n",
               gathered.gone().size(), job.size());
  return code;
}

FleetRunArguments parse(int argc, char** argv) {
  FleetRunArguments arguments;
  CLI::App app("One rank of `fathom fleet run`.", "fathom-fleet-rank");
  add_run_flags(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    app.exit(wanted);
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::bad_input,
                fmt::format("{}: see `fathom fleet run --help`.", complaint(error)));
  }
  complete(arguments);
  return arguments;
}

/// The launcher's ranks and MPI's must be the same: a program of another MPI than the launcher's
/// starts as so many jobs of one rank each.
void check_ranks(const MpiJob& job) {
  const auto launcher = find_launcher();
  if (!launcher || launcher->size == job.size()) return;
  // One of them says so; the others give it the time.
  if (launcher->rank != 0) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    leave(ExitCode::setup_incomplete);
  }
  throw Error(
      ExitCode::setup_incomplete,
      fmt::format("{} started {} ranks, and MPI knows of {}: Fathom was built with {}, so start it "
                  "with that one's mpirun, or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 "
                  "(MPICH).",
                  launcher->name, launcher->size, job.size(), job.library_version()));
}

/// Any rank but the first, once it has measured.
ExitCode hand_over(const FleetRunArguments& arguments, const FleetFolder& folder, MpiJob& job,
                   std::string parcel, SignalInbox& inbox) {
  std::error_code ignored;  // a disk that is full, say: rank 0 gets what there is over MPI
  fs::create_directories(folder.rank_done(job.rank()).parent_path(), ignored);
  std::ofstream(folder.rank_done(job.rank())).flush();
  Sending sending(std::move(parcel));
  // Rank 0 may have as much to do as this one had, and to wait for others besides.
  const std::chrono::duration<double> limit(3 * arguments.time_limit_s + arguments.wait_s);
  const auto goodbye =
      wait_for_goodbye(limit, inbox, [&] { return folder.all_ended_without_first(job.size()); });
  if (goodbye.value_or(false)) {
    sending.finish();
    job.finalize();
    return ExitCode::ok;
  }
  MpiJob::take_leave();
  // Launchers end the job at the first rank that leaves without MPI_Finalize, with its exit code:
  // that is to be rank 0's.
  if (goodbye) std::this_thread::sleep_for(std::chrono::seconds(3));
  leave(inbox.interrupts() > 0 ? ExitCode::interrupted
        : goodbye              ? ExitCode::ok
                               : ExitCode::incomplete);
}

/// Rank 0, once it has measured.
ExitCode gather(const FleetRunArguments& arguments, const std::string& this_run,
                const FleetFolder& folder, MpiJob& job, std::vector<fleet::Problem> problems,
                SignalInbox& inbox) {
  Gathered gathered(job.size(), folder);
  gathered.problems = std::move(problems);
  gathered.wait(arguments.wait_s, inbox);
  ExitCode code = ExitCode::incomplete;
  try {
    code = report(arguments, this_run, job, gathered);
  } catch (const Error& error) {  // the others must hear of the end all the same
    fmt::print(stderr, "fathom: {}\n", error.what());
    code = error.code();
  }
  const bool all = gathered.gone().empty() && inbox.interrupts() == 0;
  if (!gathered.gone().empty()) {
    std::error_code ignored;
    fs::create_directories(folder.all_done().parent_path(), ignored);
    std::ofstream(folder.all_done()).flush();
  }
  say_goodbye(job.size(), gathered.gone(), all);
  if (!all) {
    MpiJob::take_leave();
    leave(code);
  }
  job.finalize();
  return code;
}

ExitCode run(int argc, char** argv) {
  FleetRunArguments arguments = parse(argc, argv);
  // Before MPI has threads: one that does not know of it would take the signal, and end this
  // process.
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  std::optional<SetupWatch> watch(std::in_place);
  std::optional<GpusQuery> gpus;  // asked while MPI starts
  if (!arguments.replay) gpus.emplace(program_folder());
  MpiJob job(&argc, &argv);
  check_ranks(job);
  tell_supervisor_of_connection();
  MpiHostTurns turns(std::chrono::duration<double>(arguments.time_limit_s), inbox);
  arguments.host_name = turns.unique_host_name(arguments.host_name);
  const FleetFolder folder{arguments.report.out};
  const Agreed agreed = agree(job, folder.root);
  if (agreed.run.empty()) {  // there is nowhere to report to
    job.finalize();
    leave(agreed.failure);
  }
  std::vector<GpuJob> jobs = jobs_of_rank(arguments, job.rank(), turns, gpus);
  for (GpuJob& own : jobs) own.summary.run = agreed.run, own.summary.machine = machine_id();
  watch.reset();
  if (job.rank() == 0) {
    fmt::print("{} ranks, suite {}, into {}.\n", job.size(), arguments.suite, folder.root.string());
    std::fflush(stdout);
  }
  HostMeasurement measurement(arguments, folder, jobs, turns, inbox);
  measurement.run();
  if (job.rank() == 0)
    return gather(arguments, agreed.run, folder, job, measurement.problems(), inbox);
  Parcel parcel = parcel_of(jobs, folder, turns.leader(), agreed.shares_storage);
  for (const fleet::Problem& problem : measurement.problems())
    parcel.add(folder.rank_note(job.rank()).lexically_relative(folder.root).string(),
               note_text(job.rank(), arguments.host_name, problem.reason, problem.exit_code));
  return hand_over(arguments, folder, job, parcel.text(), inbox);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return to_int(run(argc, argv));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: {}\n", error.what());
    leave(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "fathom: {}\n", error.what());
    leave(ExitCode::output_unwritable);
  }
}
