// `fathom fleet run`: one process for all GPUs of its host, or one rank of several. Each rank
// measures in a child and leaves its part on storage that all share; rank 0 reports what is there.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "fleet/run/claims.h"
#include "fleet/run/roll_call.h"
#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/format.h"
#include "results/standard_streams.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
using namespace std::chrono_literals;

/// For probes that are told to stop, and of rank 0 for the others once all were told to.
constexpr auto time_to_stop = 20s, time_to_answer = 5s;
/// A part has a limit of its own.
constexpr auto no_limit = std::chrono::hours(24 * 365);
constexpr auto gather_again = 200ms;
/// For another rank of which the same is to be told, and which says it.
constexpr auto first_word = 2s;
constexpr std::size_t longest_note = 1 << 16;

class FleetRun {
 public:
  FleetRun(const FleetRunArguments& arguments, const std::optional<Launcher>& launcher)
      : arguments_(arguments), ranks_(launcher.has_value()) {
    if (launcher) launcher_ = *launcher;
  }
  ExitCode run();

 private:
  bool first() const { return launcher_.rank == 0; }
  fs::path in_ranks(const std::string& name) const { return root_ / "ranks" / name; }
  void leave_note(const fleet::Problem& problem) const;
  /// What a rank has left at its end; nothing before.
  std::optional<fleet::Problem> note_of(int rank) const;

  std::vector<RankWord> meet();
  void open_folder(RankWord& own);
  void require_shared_storage(bool leader) const;
  void claim_gpus();
  fleet::Problem measure_in_child();
  bool blame(const std::string& what) const;
  void wait_for_others();
  void tell_of_ranks(fleet::Fleet& fleet) const;
  ExitCode report();
  ExitCode code_of_part() const;

  FleetRunArguments arguments_;
  const bool ranks_;  ///< a launcher has started several, and this is one
  Launcher launcher_;
  fs::path& root_ = arguments_.report.out;
  SignalInbox inbox_{SignalInbox::Interrupts::collect};
  std::string run_;
  std::vector<FileDescriptor> claims_;  ///< of what no other run may write
  ExitCode no_folder_ = ExitCode::ok;
  Host host_;
  SeenGpus seen_;
  std::vector<GpuJob> jobs_;
  std::vector<fleet::Problem> problems_;  ///< beside the GPUs' own summaries
};

void FleetRun::leave_note(const fleet::Problem& problem) const {
  const json note{{"run", run_}, {"reason", problem.reason}, {"exit_code", problem.exit_code}};
  try {
    make_folder(in_ranks(""));
    write_file_atomically(in_ranks(fmt::format("{}.note", launcher_.rank)),
                          note.dump(-1, ' ', false, json::error_handler_t::replace));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: rank {}: {}\n", launcher_.rank, error.what());
  }
}

std::optional<fleet::Problem> FleetRun::note_of(int rank) const {
  try {
    const json note =
        json::parse(read_file_up_to(in_ranks(fmt::format("{}.note", rank)), longest_note));
    if (note.at("run") != run_) return std::nullopt;
    return fleet::Problem{fmt::format("rank {}", rank), note.at("reason"),
                          fleet::known_code(note.at("exit_code"))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Rank 0 chooses the folder, and names its run there, by which the others see whether they have
/// the same.
void FleetRun::open_folder(RankWord& own) {
  make_folder(root_);
  if (ranks_) {
    auto claim = lock_file(root_ / ".lock");
    if (!claim)
      fail(ExitCode::gpu_busy,
           "Another job of ranks measures into {} now: wait for its end, or choose another "
           "folder with --out.",
           root_.string());
    claims_.push_back(std::move(*claim));
    make_folder(in_ranks(""));
    write_file_atomically(in_ranks("run"), own.run);
  }
  own.out = root_.string();
}

std::vector<RankWord> FleetRun::meet() {
  if (ranks_) require_mpi(launcher_);
  RankWord own{.host = arguments_.host_name};
  try {
    if (!arguments_.replay) seen_.gpus = query_gpus(program_folder());
  } catch (const Error& error) {
    if (!ranks_) throw;
    seen_ = {.problem = error.what(), .code = to_int(error.code())};
  }
  for (const VisibleGpu& gpu : seen_.gpus)
    own.gpus.push_back({gpu.uuid, gpu.name.find(" MIG ") != std::string::npos});
  if (first()) {
    own.run = new_run();
    try {
      open_folder(own);
    } catch (const Error& error) {
      if (!ranks_) throw;
      fmt::print(stderr, "fathom: {}\n", error.what());
      no_folder_ = error.code();
    }
  }
  if (!ranks_) return {own};
  own.barrier = host_.barrier.make_own();
  try {
    return exchange(launcher_, root_, own, inbox_);
  } catch (const Error& error) {
    // All ranks mostly fail alike: the first one says it for all.
    if (!*error.what()) throw;
    if (first()) leave_note({"", error.what(), to_int(error.code())});
    if (!first()) std::this_thread::sleep_for(first_word);
    if (!first() && note_of(0)) throw Error(error.code(), "");
    throw;
  }
}

void FleetRun::require_shared_storage(bool leader) const {
  try {
    if (read_file_up_to(in_ranks("run"), longest_note) == run_) return;
  } catch (const Error&) {  // it is not there
  }
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

/// What ends the child is this rank's to tell, and no reason for a launcher to end the others.
/// Returns what its GPUs' summaries do not say.
fleet::Problem FleetRun::measure_in_child() {
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
  const auto look = [&] {
    if (first() || Clock::now() < next_look) return;
    next_look = Clock::now() + 1s;
    // One that is still there once rank 0 has reported hangs, and the launcher would wait for it.
    if (note_of(0)) child.signal(SIGKILL);
  };
  const SupervisedEnd end = supervise(
      child, inbox_, {.limit = no_limit, .grace = time_to_stop, .line = {}, .tick = look});
  if (end.end.signal != 0 && !blame(end.end.describe()))
    return {"", "it was ended by " + end.end.describe(), to_int(ExitCode::incomplete)};
  return {"", last_line_of(fmt::format("/proc/self/fd/{}", words.get())), end.end.status};
}

/// Says in the summaries of this rank's GPUs what ended their measurement; false: in none, since
/// they are complete or not there.
bool FleetRun::blame(const std::string& what) const {
  bool told = false;
  for (const GpuJob& job : jobs_) {
    const fs::path file = gpu_folder(root_, job.summary) / fleet::summary_file;
    try {
      auto there = fleet::parse_summary(read_file_up_to(file, document_size_limit), file.string());
      if (there.status == fleet::GpuStatus::complete || there.run != run_) continue;
      const bool partial = there.status == fleet::GpuStatus::partial;
      there.reason = fmt::format("{}rank {} was ended by {}", partial ? there.reason + "; " : "",
                                 launcher_.rank, what);
      write_file_atomically(file, to_text(there));
      told = true;
    } catch (const Error& error) {
      fmt::print(stderr, "fathom: rank {}: {}\n", launcher_.rank, error.what());
    }
  }
  return told;
}

/// Until all have left their notes, --wait seconds at most.
void FleetRun::wait_for_others() {
  const auto begin = Clock::now();
  for (int rank = 1; rank < launcher_.size;) {
    if (note_of(rank)) {
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

/// What went wrong with ranks: in the row of its GPU where that is not complete, since one death is
/// one problem.
void FleetRun::tell_of_ranks(fleet::Fleet& fleet) const {
  const std::string no_answer =
      inbox_.interrupts() > 0
          ? "the job was ended before it answered"
          : fmt::format("it did not answer within {} s after rank 0 was done (--wait)",
                        arguments_.wait_s);
  for (int rank = 1; rank < launcher_.size; ++rank) {
    const fleet::Problem problem = note_of(rank).value_or(
        fleet::Problem{fmt::format("rank {}", rank), no_answer, to_int(ExitCode::incomplete)});
    if (problem.reason.empty()) continue;
    bool joined = false;
    for (fleet::FleetGpu& gpu : fleet.gpus) {
      fleet::GpuSummary& s = gpu.summary;
      if (s.rank != rank) continue;
      const auto row = std::ranges::find(fleet.problems, name_of(s), &fleet::Problem::what);
      if (row == fleet.problems.end()) continue;
      row->reason = s.reason = fmt::format("{}, {}; {}", problem.what, problem.reason, s.reason);
      joined = true;
    }
    if (!joined) fleet.problems.push_back(problem);
  }
}

/// What all have left.
ExitCode FleetRun::report() {
  wait_for_others();
  fleet::Expected expected = expected_of(arguments_.report);
  expected.run = run_;
  fleet::Fleet fleet = fleet::read_fleet(root_, expected);
  tell_of_ranks(fleet);
  fleet.problems.insert(fleet.problems.end(), problems_.begin(), problems_.end());
  return publish_fleet(fleet, arguments_.report);
}

ExitCode FleetRun::code_of_part() const {
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
  const std::vector<RankWord> all = meet();
  const auto own = static_cast<std::size_t>(launcher_.rank);
  if (all.front().out.empty()) return no_folder_;  // there is nowhere to report to
  run_ = all.front().run;
  root_ = all.front().out;
  if (ranks_) require_shared_storage(all[own].leader == launcher_.rank);
  jobs_ = jobs_of_rank(arguments_, all, own, seen_, host_);
  for (GpuJob& job : jobs_) job.summary.run = run_;
  if (!ranks_) {
    claim_gpus();
    print_line(fmt::format(
        "{} {} of {}, suite {}, into {}.", arguments_.replay ? "Replaying on" : "Measuring",
        counted(jobs_.size(), "GPU"), arguments_.host_name, arguments_.suite, root_.string()));
    if (auto unwritten = HostMeasurement(arguments_, jobs_, host_, inbox_).run())
      problems_.push_back(std::move(*unwritten));
    const ExitCode code = arguments_.part ? code_of_part() : report();
    return inbox_.interrupts() > 0 ? ExitCode::interrupted : code;
  }
  std::vector<std::string> others;
  for (const std::size_t other : ranks_of_host(all, own))
    if (other != own) others.push_back(all[other].barrier);
  host_.barrier.join(others, std::chrono::duration<double>(arguments_.time_limit_s));
  if (first())
    print_line(fmt::format("{} ranks, suite {}, into {}.", launcher_.size, arguments_.suite,
                           root_.string()));
  fleet::Problem problem = measure_in_child();
  problem.what = fmt::format("rank {}", launcher_.rank);
  ExitCode code = ExitCode::ok;  // the job's is rank 0's
  if (first()) {
    if (!problem.reason.empty()) problems_.push_back(problem);
    try {
      code = report();
    } catch (const Error& error) {  // the others must hear of the end all the same
      fmt::print(stderr, "fathom: {}\n", error.what());
      code = error.code();
    }
  }
  leave_note(problem);
  return code;
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
