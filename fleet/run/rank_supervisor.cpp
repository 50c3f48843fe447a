#include "fleet/run/rank_supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "results/atomic_file.h"
#include "results/error.h"
#include "tools/child_process.h"
#include "fleet/run/measure.h"
#include "fleet/run/rank_link.h"
#include "fleet/run/rank_note.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// A rank that is told to stop ends its probes first; one that may leave does so at once.
constexpr auto time_to_stop = 20s, time_to_leave = 5s, kill_patience = 10s, linger = 5s,
               first_word = 2s;

/// A note beside the documents: why this rank left none, or not all.
void leave_note(const FleetFolder& folder, const Launcher& launcher, const std::string& host,
                const std::string& reason, ExitCode code = ExitCode::incomplete) {
  try {
    make_folder(folder.root / "ranks");
    write_file_atomically(folder.rank_note(launcher.rank),
                          note_text(launcher.rank, host, reason, to_int(code)));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: rank {}: {}\n", launcher.rank, error.what());
  }
}

/// Notes that an earlier run of more ranks left: each rank of this one removes its own.
void forget_ranks_from(const FleetFolder& folder, int size) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.rank_note(0).parent_path(), ignored)) {
    const std::string name = entry.path().stem();
    int rank = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), rank);
    if (read.ec == std::errc() && rank >= size) fs::remove(entry.path(), ignored);
  }
}

std::optional<fs::file_time_type> written_at(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

/// Whether rank 0 has said that it is done with a job of which somebody is missing; in a job that
/// is complete nobody needs to hear it.
class Farewell {
 public:
  explicit Farewell(const FleetFolder& folder)
      : file_(folder.all_done()), before_(written_at(file_)) {}
  bool said() const {
    const auto now = written_at(file_);
    return now && now != before_;
  }

 private:
  fs::path file_;
  std::optional<fs::file_time_type> before_;  ///< of an earlier run
};

void wait_a_moment(SignalInbox& inbox) {
  pollfd source{inbox.descriptor(), POLLIN, 0};
  constexpr int moment_ms = 200;
  poll(&source, 1, moment_ms);
  inbox.drain();
}

/// How the MPI program ended. One that is still there well after rank 0 has given it up hangs, and
/// is killed: the launcher would wait for it.
ProcessEnd end_of(ChildProcess& rank, RankLink& link, const Farewell& farewell,
                  SignalInbox& inbox) {
  std::optional<Clock::time_point> kill_at;
  bool told = false;
  while (true) {
    const auto end = rank.try_end();
    link.drain();
    if (end) return *end;
    if (!told && inbox.interrupts() > 0) {
      told = true;
      rank.signal(SIGINT);
      kill_at = Clock::now() + time_to_stop;
    }
    if (!kill_at && farewell.said()) kill_at = Clock::now() + time_to_leave;
    if (inbox.interrupts() > 1 || (kill_at && Clock::now() >= *kill_at)) rank.signal(SIGKILL);
    if (kill_at && Clock::now() >= *kill_at + kill_patience) return {0, SIGKILL, true};
    wait_a_moment(inbox);
  }
}

/// The supervisor of a rank that died must not end before the others: launchers take the whole job
/// down for a rank that ends without MPI_Finalize. Rank 0, or the launcher, says when they are
/// done.
void outlive_the_others(const FleetFolder& folder, int ranks, const Farewell& farewell,
                        SignalInbox& inbox, double limit_s) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
  while (inbox.interrupts() == 0 && Clock::now() < deadline) {
    if (farewell.said() || folder.all_ended_without_first(ranks)) {
      std::this_thread::sleep_for(linger);  // those that live leave first
      return;
    }
    wait_a_moment(inbox);
  }
}

/// How the MPI program ended, where that is its death: by a signal, or by an error: of its MPI,
/// which has not connected it, or with other ranks waiting for it.
std::optional<std::string> death_of(const ProcessEnd& end, int rank, bool connected) {
  if (end.signal != 0) return "it was ended by " + end.describe();
  const bool alike =  // all ranks end with it, or the user has ended them
      end.status == 0 || end.status == to_int(ExitCode::setup_incomplete) ||
      end.status == to_int(ExitCode::interrupted);
  if ((rank == 0 && connected) || alike) return std::nullopt;
  return "it ended with " + end.describe();
}

/// MPI itself may end a program that it cannot start, with words and a code of its own. The others
/// do no better, or wait for this one in vain: nothing is measured, so nobody is to be outlived.
ExitCode never_connected(const FleetFolder& folder, const Launcher& launcher,
                         const std::string& host, const std::string& death) {
  const std::string reason = death + " before MPI had connected the ranks";
  leave_note(folder, launcher, host, reason, ExitCode::setup_incomplete);
  std::error_code ignored;
  if (launcher.rank != 0) {  // one says it for all to whom it happens
    std::this_thread::sleep_for(first_word);
    if (fs::exists(folder.rank_note(0), ignored)) return ExitCode::setup_incomplete;
  }
  fmt::print(stderr,
             "fathom: rank {} of {}: {}. Start it with the mpirun of the MPI that Fathom was built "
             "with, or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH); `srun --mpi=list` "
             "names those that Slurm has. It works without MPI, too: one process a host with "
             "--part, then `fathom fleet collect {}`.\n",
             launcher.rank, launcher.size, reason, folder.root.string());
  return ExitCode::setup_incomplete;
}

}  // namespace

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
  const Farewell farewell(folder);
  std::error_code ignored;
  fs::remove(folder.rank_note(launcher.rank), ignored);
  fs::remove(folder.rank_done(launcher.rank), ignored);
  if (launcher.rank == 0) forget_ranks_from(folder, launcher.size);
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  RankLink link;
  ChildProcess rank({program,
                     flags_of(arguments),
                     STDOUT_FILENO,
                     STDERR_FILENO,
                     {link.rank_end()},
                     {link.variable()},
                     {}});
  const ProcessEnd end = end_of(rank, link, farewell, inbox);
  const auto death = death_of(end, launcher.rank, link.connected());
  if (!death) {
    if (link.connected()) take_leave_of_hydra();
    return static_cast<ExitCode>(end.status);
  }
  if (inbox.interrupts() > 0) return ExitCode::interrupted;
  if (!link.connected()) return never_connected(folder, launcher, arguments.host_name, *death);
  leave_note(folder, launcher, arguments.host_name, *death);
  if (launcher.rank == 0) {
    // The one that reports is gone: what the others leave is still there to be collected.
    fmt::print(
        stderr,
        "fathom: rank 0 was ended by {}: once the others are done, `fathom fleet collect {}` "
        "makes the report.\n",
        end.describe(), folder.root.string());
  }
  const double limit_s = 3 * arguments.time_limit_s + arguments.wait_s;
  outlive_the_others(folder, launcher.size, farewell, inbox, limit_s);
  take_leave_of_hydra();
  // The job's code is rank 0's, which has told of it.
  return launcher.rank == 0 ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace fathom
