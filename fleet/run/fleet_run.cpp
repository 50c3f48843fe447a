// `fathom fleet run`: one process for all GPUs of its host, or one rank of several. A rank measures
// in a child and leaves its part on storage that all share; rank 0 reports what is there.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "fleet/run/claims.h"
#include "fleet/run/rank_note.h"
#include "fleet/run/roll_call.h"
#include "results/error.h"
#include "results/fail.h"
#include "results/format.h"
#include "results/standard_streams.h"
#include "tools/child_process.h"
#include "tools/device_query.h"
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
constexpr const char* ended_before = "it ended before it had measured";
/// How long a rank waits for the one that says the same for all.
constexpr auto first_word = 2s;

class FleetRun {
 public:
  FleetRun(const FleetRunArguments& arguments, const std::optional<Launcher>& launcher)
      : arguments_(arguments), launcher_(launcher), rank_(launcher ? launcher->rank : 0) {}
  ExitCode run();

 private:
  bool first() const { return rank_ == 0; }
  void note(const std::string& reason, int exit_code, bool ended) {
    note_.reason = reason, note_.exit_code = exit_code, note_.ended = ended;
    leave_note(root_, rank_, note_);
  }
  std::vector<RankWord> meet(RankWord own);
  std::vector<RankWord> begin();
  void require_shared_storage(bool leader) const;
  void claim_gpus();
  ExitCode run_host();
  void measure_in_child();
  ExitCode run_rank(const std::vector<RankWord>& all);
  void wait_for_others();
  ExitCode report();
  ExitCode end_part() const;

  FleetRunArguments arguments_;
  const std::optional<Launcher> launcher_;  ///< of several ranks, of which this is one
  const int rank_;
  fs::path& root_ = arguments_.report.out;
  std::optional<SignalInbox> inbox_;
  RankNote note_;
  ExitCode no_folder_ = ExitCode::ok;
  std::vector<FileDescriptor> claims_;  ///< of what no other run may write
  Host host_;
  SeenGpus seen_;
  std::vector<GpuJob> jobs_;
  std::vector<fleet::Problem> problems_;  ///< beside the GPUs' own summaries
};

/// Tells all ranks what each says.
std::vector<RankWord> FleetRun::meet(RankWord own) {
  own.barrier = host_.barrier.make_own();
  try {
    return exchange(*launcher_, root_, own, *inbox_);
  } catch (const Error& error) {
    if (!*error.what()) throw;
    // All ranks mostly fail alike: the first one says it for all, and then the others say nothing.
    if (first()) {
      if (no_folder_ == ExitCode::ok) note(error.what(), to_int(error.code()), true);
    } else {
      std::this_thread::sleep_for(first_word);
      const auto said = read_note(root_, 0);
      if (said && said->ended && said->exit_code == to_int(error.code()))
        throw Error(error.code(), "");
    }
    throw;
  }
}

/// What this process says, and the other ranks where there are any.
std::vector<RankWord> FleetRun::begin() {
  if (launcher_) {
    inbox_.emplace(SignalInbox::Interrupts::collect);
    require_mpi(*launcher_);
    note_.size = launcher_->size;
  }
  RankWord own{.host = note_.host = arguments_.host_name};
  if (first()) {
    own.run = note_.run = new_run();
    try {
      if (launcher_) {
        make_folder(root_);
        auto claim = lock_file(root_ / ".lock");
        if (!claim)
          fail(ExitCode::gpu_busy,
               "Another job of ranks measures into {} now: wait for its end, or choose another "
               "folder with --out.",
               root_.string());
        claims_.push_back(std::move(*claim));
        // By this the others see whether they have the same folder.
        note(ended_before, to_int(ExitCode::incomplete), false);
      }
      own.out = root_.string();
    } catch (const Error& error) {
      fmt::print(stderr, "fathom: {}\n", error.what());
      no_folder_ = error.code();
    }
  }
  try {
    if (!arguments_.replay) seen_.gpus = query_gpus(program_folder());
  } catch (const Error& error) {
    if (!launcher_) throw;
    seen_ = {.problem = error.what(), .code = to_int(error.code())};
  }
  for (const VisibleGpu& gpu : seen_.gpus)
    own.gpus.push_back({gpu.uuid, gpu.name.find(" MIG ") != std::string::npos});
  return launcher_ ? meet(std::move(own)) : std::vector{own};
}

void FleetRun::require_shared_storage(bool leader) const {
  const auto seen = read_note(root_, 0);
  if (seen && seen->run == note_.run) return;
  if (!leader) {  // which says it for its host
    std::this_thread::sleep_for(first_word);
    throw Error(ExitCode::setup_incomplete, "");
  }
  fail(ExitCode::setup_incomplete,
       "{} does not see what rank 0 wrote into {}: name a folder on storage that all hosts share "
       "with --out, or start one process a host with --part, copy the folders together, and "
       "collect.",
       arguments_.host_name, root_.string());
}

/// Several jobs may write into one folder: each GPU has a place of its own there. A GPU that
/// another job measures now is left to it, and told.
void FleetRun::claim_gpus() {
  make_folder(root_);
  std::erase_if(jobs_, [&](GpuJob& job) {
    auto place = claim_folder(root_, job);
    if (place)
      claims_.push_back(std::move(*place));
    else
      problems_.push_back(
          {name_of(job.summary),
           fmt::format("another job measures {} into this folder now", name_of(job.summary)),
           to_int(ExitCode::gpu_busy)});
    return !place;
  });
  // Those that are left take turns among themselves, and share the counters.
  for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].place = i;
  host_.gpus = jobs_.size();
  if (jobs_.empty() && !arguments_.part)  // whose report is not to be overwritten
    fail(ExitCode::gpu_busy,
         "Another run measures these GPUs into {} now: wait for its end, or choose another folder "
         "with --out.",
         root_.string());
}

/// All GPUs of this host from this one process.
ExitCode FleetRun::run_host() {
  claim_gpus();
  print_line(fmt::format(
      "{} {} of {}, suite {}, into {}.", arguments_.replay ? "Replaying on" : "Measuring",
      counted(jobs_.size(), "GPU"), arguments_.host_name, arguments_.suite, root_.string()));
  inbox_.emplace(SignalInbox::Interrupts::collect);
  if (auto unwritten = HostMeasurement(arguments_, jobs_, host_, *inbox_).run())
    problems_.push_back(std::move(*unwritten));
  const bool interrupted = inbox_->interrupts() > 0;
  const ExitCode code = arguments_.part ? end_part() : report();
  return interrupted ? ExitCode::interrupted : code;
}

/// Measures in a child: if that dies, this rank tells it, and the launcher ends nobody.
void FleetRun::measure_in_child() {
  note(ended_before, to_int(ExitCode::incomplete), false);
  FileDescriptor words(memfd_create("words", MFD_CLOEXEC));
  ChildStart start{"fathom", {}, words.get(), STDERR_FILENO};
  start.work = [this] {
    SignalInbox inbox(SignalInbox::Interrupts::collect);
    const auto unwritten = HostMeasurement(arguments_, jobs_, host_, inbox).run();
    if (!unwritten) return to_int(ExitCode::ok);
    fmt::print("{}\n", unwritten->reason);
    std::fflush(stdout);
    return unwritten->exit_code;
  };
  ChildProcess child(start);
  host_.barrier.leave_to_child();
  auto next_look = Clock::now();
  bool told = false;
  const auto look = [&] {
    if (inbox_->interrupts() > 0 && !told) {
      told = true;  // a launcher may leave no time for more
      note("it was told to stop before it had measured", to_int(ExitCode::incomplete), false);
    }
    if (first() || Clock::now() < next_look) return;
    next_look = Clock::now() + 1s;
    // One that is still there once rank 0 has reported hangs, and the launcher would wait for it.
    const auto rank_0 = read_note(root_, 0);
    if (rank_0 && rank_0->run == note_.run && rank_0->ended) child.signal(SIGKILL);
  };
  const ProcessEnd end =
      supervise(child, *inbox_,
                {.limit = no_limit, .grace = time_to_stop, .line = {}, .tick = look})
          .end;
  if (first()) note("it ended before it had reported", to_int(ExitCode::incomplete), false);
  note_.exit_code = end.signal != 0 ? to_int(ExitCode::incomplete) : end.status;
  note_.reason = last_line_of(fmt::format("/proc/self/fd/{}", words.get()));
  if (end.signal != 0 || (note_.reason.empty() && end.status != 0))
    note_.reason = "it was ended by " + end.describe();
}

/// One rank of several.
ExitCode FleetRun::run_rank(const std::vector<RankWord>& all) {
  const auto own = static_cast<std::size_t>(rank_);
  std::vector<std::string> others;
  for (const std::size_t other : ranks_of_host(all, own))
    if (other != own) others.push_back(all[other].barrier);
  host_.barrier.join(others, std::chrono::duration<double>(arguments_.time_limit_s));
  if (first())
    print_line(fmt::format("{} ranks, suite {}, into {}.", launcher_->size, arguments_.suite,
                           root_.string()));
  measure_in_child();
  ExitCode code = ExitCode::ok;  // the job's is rank 0's
  try {
    if (first()) {
      wait_for_others();
      code = report();
    }
  } catch (const Error& error) {  // the others must hear of the end all the same
    fmt::print(stderr, "fathom: {}\n", error.what());
    code = error.code();
  }
  note(note_.reason, note_.exit_code, true);
  return code;
}

/// Until all notes say that they have ended, --wait seconds at most.
void FleetRun::wait_for_others() {
  const auto begin = Clock::now();
  for (int rank = 1; rank < launcher_->size;) {
    const auto other = read_note(root_, rank);
    if (other && other->run == note_.run && other->ended) {
      ++rank;
      continue;
    }
    inbox_->drain();
    std::chrono::duration<double> limit(arguments_.wait_s);
    if (inbox_->interrupts() > 0)
      limit = std::min<std::chrono::duration<double>>(limit, time_to_answer);
    if (Clock::now() > begin + limit) return;
    std::this_thread::sleep_for(gather_again);
  }
}

/// What this run has left.
ExitCode FleetRun::report() {
  fleet::Expected expected = expected_of(arguments_.report);
  expected.run = note_.run;
  fleet::Fleet fleet = fleet::read_fleet(root_, expected);
  if (launcher_)
    add_rank_problems(
        fleet, root_, note_,
        inbox_->interrupts() > 0
            ? "the job was ended before it answered"
            : fmt::format("it did not answer within {} s after rank 0 was done (--wait)",
                          arguments_.wait_s));
  fleet.problems.insert(fleet.problems.end(), problems_.begin(), problems_.end());
  return publish_fleet(fleet, arguments_.report);
}

/// Others report: what this process' own GPUs make of its exit code.
ExitCode FleetRun::end_part() const {
  ExitCode code = ExitCode::ok;
  for (const GpuJob& job : jobs_) {
    const int own = job.summary.exit_code;
    if (own != 0 && code != ExitCode::incomplete)
      code = own == to_int(ExitCode::check_failed) ? ExitCode::check_failed : ExitCode::incomplete;
  }
  for (const fleet::Problem& problem : problems_) {
    fmt::print(stderr, "fathom: {}\n", problem.reason);
    code = static_cast<ExitCode>(problem.exit_code);
  }
  print_line(fmt::format("Documents: {}; once all jobs are done: fathom fleet collect {}",
                         root_.string(), root_.string()));
  return code;
}

ExitCode FleetRun::run() {
  const std::vector<RankWord> all = begin();
  if (all.front().out.empty()) return no_folder_;  // there is nowhere to report to
  const auto own = static_cast<std::size_t>(rank_);
  note_.run = all.front().run;
  root_ = all.front().out;
  if (launcher_) require_shared_storage(all[own].leader == rank_);
  jobs_ = jobs_of_rank(arguments_, all, own, seen_, host_);
  note_.host = arguments_.host_name = jobs_.front().summary.host;
  for (GpuJob& job : jobs_) job.summary.run = note_.run;
  return launcher_ ? run_rank(all) : run_host();
}

}  // namespace

ExitCode fleet_run(const FleetRunArguments& given) {
  FleetRunArguments arguments = given;
  complete(arguments);
  expected_of(arguments.report);  // a list that cannot be read is to be known now
  try {
    return FleetRun(arguments, arguments.part ? std::nullopt : find_launcher()).run();
  } catch (const Error& error) {
    if (*error.what()) throw;
    return error.code();  // another rank, or MPI, has said why
  }
}

}  // namespace fathom
