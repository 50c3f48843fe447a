#include <fmt/format.h>
#include <sys/mman.h>

#include <filesystem>
#include <thread>

#include "fleet/run/claims.h"
#include "fleet/run/launcher.h"
#include "fleet/run/rank_note.h"
#include "fleet/run/roll_call.h"
#include "results/fail.h"
#include "results/standard_streams.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// For probes that are told to stop, and of rank 0 for the others once all were told to.
constexpr auto time_to_stop = 20s, time_to_answer = 5s;
/// A part has a limit of its own.
constexpr auto no_limit = std::chrono::hours(24 * 365);
constexpr auto gather_again = 200ms;

class Rank {
 public:
  Rank(const FleetRunArguments& arguments, const Launcher& launcher)
      : arguments_(arguments), launcher_(launcher) {
    note_ = {.rank = launcher.rank, .size = launcher.size, .host = arguments.host_name};
  }
  ExitCode run();

 private:
  bool first() const { return launcher_.rank == 0; }
  void note(const std::string& reason, int exit_code, bool ended) {
    note_.reason = reason, note_.exit_code = exit_code, note_.ended = ended;
    leave_note(folder_, note_);
  }
  std::vector<RankWord> meet();
  void require_shared_storage(bool leader) const;
  void measure();
  /// Waits until all notes say that they have ended, --wait seconds at most.
  void wait_for_others();
  ExitCode report();

  FleetRunArguments arguments_;
  const Launcher& launcher_;
  FleetFolder folder_{arguments_.report.out};
  SignalInbox inbox_{SignalInbox::Interrupts::collect};
  RankNote note_;
  std::optional<FileDescriptor> claim_;  ///< of the folder, which no other job of ranks may have
  Host host_;
  SeenGpus seen_;
  std::vector<GpuJob> jobs_;
};

/// Rank 0 chooses the folder, and leaves a note in it by which the others see whether they have the
/// same.
std::vector<RankWord> Rank::meet() {
  require_mpi(launcher_);
  RankWord own{.host = arguments_.host_name, .barrier = host_.barrier.make_own()};
  if (first()) {
    own.run = note_.run = new_run();
    own.out = folder_.root.string();
    try {
      make_folder(folder_.root);
      claim_ = lock_file(folder_.root / ".lock");
      if (!claim_)
        fail(ExitCode::gpu_busy,
             "Another job of ranks measures into {} now: wait for its end, or choose another "
             "folder with --out.",
             folder_.root.string());
      note("it ended before it had measured", to_int(ExitCode::incomplete), false);
    } catch (const Error& error) {
      fmt::print(stderr, "fathom: {}\n", error.what());
      own.failure = to_int(error.code());
    }
  }
  if (!arguments_.replay) {
    try {
      seen_.gpus = query_gpus(program_folder());
    } catch (const Error& error) {
      seen_ = {.problem = error.what(), .code = to_int(error.code())};
    }
    for (const VisibleGpu& gpu : seen_.gpus)
      own.gpus.push_back({gpu.uuid, gpu.name.find(" MIG ") != std::string::npos});
  }
  return exchange(launcher_, folder_, own, inbox_);
}

void Rank::require_shared_storage(bool leader) const {
  const auto seen = read_note(folder_, 0);
  if (seen && seen->run == note_.run) return;
  if (!leader) {  // which says it for its host
    std::this_thread::sleep_for(2s);
    throw Error(ExitCode::setup_incomplete, "");
  }
  fail(ExitCode::setup_incomplete,
       "{} does not see what rank 0 wrote into {}: name a folder on storage that all hosts share "
       "with --out, or start one process a host with --part, copy the folders together, and "
       "collect.",
       arguments_.host_name, folder_.root.string());
}

/// In a child, so that what ends it is this rank's to tell, and no reason for a launcher to end the
/// others.
void Rank::measure() {
  note("it ended before it had measured", to_int(ExitCode::incomplete), false);
  FileDescriptor words(memfd_create("words", MFD_CLOEXEC));
  ChildStart start{"fathom", {}, words.get(), STDERR_FILENO};
  start.work = [this] {
    SignalInbox inbox(SignalInbox::Interrupts::collect);
    const auto problems = HostMeasurement(arguments_, folder_, jobs_, host_, inbox).run();
    if (problems.empty()) return to_int(ExitCode::ok);
    fmt::print("{}\n", problems.front().reason);
    std::fflush(stdout);
    return problems.front().exit_code;
  };
  ChildProcess child(start);
  host_.barrier.leave_to_child();
  auto next_look = Clock::now();
  bool told = false;
  const auto look = [&] {
    if (inbox_.interrupts() > 0 && !told) {
      told = true;  // a launcher may leave no time for more
      note("it was told to stop before it had measured", to_int(ExitCode::incomplete), false);
    }
    if (first() || Clock::now() < next_look) return;
    next_look = Clock::now() + 1s;
    // One that is still there once rank 0 has reported hangs, and the launcher would wait for it.
    if (const auto rank_0 = read_note(folder_, 0); rank_0 && rank_0->ended) child.signal(SIGKILL);
  };
  const SupervisedEnd end = supervise(
      child, inbox_, {.limit = no_limit, .grace = time_to_stop, .line = {}, .tick = look});
  const bool killed = end.end.signal != 0;
  note_.exit_code = killed ? to_int(ExitCode::incomplete) : end.end.status;
  note_.reason = last_line_of(fmt::format("/proc/self/fd/{}", words.get()));
  if (killed || (note_.reason.empty() && note_.exit_code != 0))
    note_.reason = "it was ended by " + end.end.describe();
}

void Rank::wait_for_others() {
  const auto begin = Clock::now();
  for (int rank = 1; rank < launcher_.size;) {
    const auto other = read_note(folder_, rank);
    if (other && other->run == note_.run && other->ended) {
      ++rank;
      continue;
    }
    inbox_.drain();
    std::chrono::duration<double> limit(arguments_.wait_s);
    if (inbox_.interrupts() > 0)
      limit = std::min<std::chrono::duration<double>>(limit, time_to_answer);
    if (Clock::now() > begin + limit) return;
    std::this_thread::sleep_for(gather_again);
  }
}

/// What all ranks have left.
ExitCode Rank::report() {
  wait_for_others();
  fleet::Expected expected = expected_of(arguments_.report);
  expected.run = note_.run;
  fleet::Fleet fleet = fleet::read_fleet(folder_.root, expected);
  const std::string no_answer =
      inbox_.interrupts() > 0
          ? "the job was ended before it answered"
          : fmt::format("it did not answer within {} s after rank 0 was done (--wait)",
                        arguments_.wait_s);
  add_rank_problems(fleet, problems_of_notes(folder_, note_, no_answer));
  return publish_fleet(fleet, arguments_.report);
}

ExitCode Rank::run() {
  const std::vector<RankWord> all = meet();
  const auto own = static_cast<std::size_t>(launcher_.rank);
  if (all.front().failure != 0)  // there is nowhere to report to
    return first() ? static_cast<ExitCode>(all.front().failure) : ExitCode::ok;
  note_.run = all.front().run;
  arguments_.report.out = folder_.root = all.front().out;
  require_shared_storage(all[own].leader == launcher_.rank);
  jobs_ = jobs_of_rank(arguments_, all, own, seen_, host_);
  note_.host = arguments_.host_name = jobs_.front().summary.host;
  for (GpuJob& job : jobs_) job.summary.run = note_.run;
  std::vector<std::string> others;
  for (const std::size_t other : ranks_of_host(all, own))
    if (other != own) others.push_back(all[other].barrier);
  host_.barrier.join(others, std::chrono::duration<double>(arguments_.time_limit_s));
  if (first())
    print_line(fmt::format("{} ranks, suite {}, into {}.", launcher_.size, arguments_.suite,
                           folder_.root.string()));
  measure();
  ExitCode code = ExitCode::ok;  // the job's is rank 0's
  if (first()) {
    try {
      code = report();
    } catch (const Error& error) {  // the others must hear of the end all the same
      fmt::print(stderr, "fathom: {}\n", error.what());
      code = error.code();
    }
  }
  note(note_.reason, note_.exit_code, true);
  return code;
}

}  // namespace

ExitCode run_rank(const FleetRunArguments& arguments, const Launcher& launcher) {
  try {
    return Rank(arguments, launcher).run();
  } catch (const Error& error) {
    if (*error.what()) throw;
    return error.code();  // another rank, or MPI, has said why
  }
}

}  // namespace fathom
