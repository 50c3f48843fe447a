// `fathom fleet run`: one process for all GPUs of its host, or one rank of several. A rank measures
// in a child and leaves its part on storage that all share; rank 0 reports what is there.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fleet/run/run.h"
#include "results/error.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// For probes that are told to stop, and of rank 0 for the others once all were told to.
constexpr auto time_to_stop = 20s, time_to_answer = 5s;
constexpr auto no_limit = std::chrono::hours(24 * 365);  // a part has a limit of its own
/// In a rank's note from its beginning on: what is left of one that dies or hangs.
constexpr const char* unfinished = "it has not finished";
constexpr char busy[] =
    "Another {} into {} now: wait for its end, or choose another folder with --out.";
constexpr int incomplete = to_int(ExitCode::incomplete);

/// All that this process sees, with what may make one slower than others of its kind; throws as
/// query_device does where there is none.
std::vector<GpuJob> query_gpus(const fs::path& programs) {
  std::vector<GpuJob> gpus;
  ask_device(programs, {"--gpus"}, [&](const nlohmann::ordered_json& answer) {
    for (const auto& gpu : answer.at("gpus")) {
      GpuJob& seen = gpus.emplace_back(GpuJob{gpu.at("uuid"), gpu.at("pci_bus_id")});
      seen.summary.gpu_name = gpu.at("name");
      seen.summary.uuid_hash = gpu.at("uuid_hash");
      fleet::Health& health = seen.summary.health;
      const auto& given = gpu.at("health");
      for (const auto& [key, number] : {std::pair{"pcie_generation", &health.pcie_generation},
                                        {"pcie_width", &health.pcie_width},
                                        {"uncorrected_ecc_errors", &health.uncorrected_ecc_errors},
                                        {"remapped_rows", &health.remapped_rows},
                                        {"processes", &health.other_processes}})
        if (given.contains(key) && !given[key].is_null()) *number = given[key].get<double>();
      health.remapping_failed = given.at("remapping_failed");
      health.remapping_pending = given.at("remapping_pending");
    }
  });
  return gpus;
}

class FleetRun {
 public:
  FleetRun(const FleetRunArguments& arguments, const std::optional<Launcher>& launcher)
      : arguments_(arguments), launcher_(launcher), rank_(launcher ? launcher->rank : 0) {
    if (launcher) inbox_.emplace(SignalInbox::Interrupts::collect);
  }

  ExitCode run() {
    RankWord own{.host = arguments_.host_name, .run = new_run(), .out = root_.string()};
    note_ = {.run = own.run, .size = launcher_ ? launcher_->size : 1, .host = own.host};
    std::optional<Error> no_folder;  // the others are to hear of it
    try {
      if (launcher_ && first()) {
        make_folder(root_);
        auto claim = lock_file(root_ / ".lock");
        if (!claim) fail(ExitCode::gpu_busy, busy, "job of ranks measures", root_.string());
        claims_.push_back(std::move(*claim));
        // By it the others see whether they have the same folder.
        note(unfinished, incomplete, false);
      }
    } catch (const Error& error) {
      no_folder = error;
      own.out.clear();
    }
    std::vector<GpuJob> seen;
    std::optional<Error> unseen;  // why this rank sees none
    try {
      if (!arguments_.replay) seen = query_gpus(program_folder());
    } catch (const Error& error) {
      if (!launcher_) throw;
      unseen = error;
    }
    for (const GpuJob& gpu : seen) {
      const bool mig = gpu.summary.gpu_name.find(" MIG ") != std::string::npos;
      own.gpus.push_back(mig ? std::string(mig_mark) + gpu.uuid : gpu.uuid);
    }
    std::vector<RankWord> all{own};
    try {
      if (launcher_) {
        all.front().barrier = host_.barrier.make_own();
        all = exchange(*launcher_, root_, all.front(), *inbox_);
      }
    } catch (const Error& error) {
      // Without a word: an interrupt, or MPI has said it. The note stays that it has not finished.
      if (!no_folder && first() && *error.what()) note(error.what(), to_int(error.code()), true);
      if (!no_folder) throw;
    }
    if (no_folder) throw *no_folder;
    if (all.front().out.empty()) return ExitCode::ok;  // rank 0 says why there is nowhere to write
    note_.run = all.front().run;
    root_ = all.front().out;
    jobs_ = jobs_of_rank(arguments_, all, static_cast<std::size_t>(rank_), seen, host_);
    if (unseen) {
      jobs_.front().summary.reason = unseen->what();
      jobs_.front().summary.exit_code = to_int(unseen->code());
    }
    note_.host = arguments_.host_name = jobs_.front().summary.host;
    for (GpuJob& job : jobs_) job.summary.run = note_.run;
    return launcher_ ? run_rank(all) : run_host();
  }

 private:
  bool first() const { return rank_ == 0; }
  void note(const std::string& reason, int exit_code, bool ended) {
    note_.reason = reason, note_.exit_code = exit_code, note_.ended = ended;
    leave_note(root_, rank_, note_);
  }
  /// Whether another rank of this job has ended.
  bool has_ended(int rank) const {
    const auto other = read_note(root_, rank);
    return other && other->run == note_.run && other->ended;
  }

  /// All GPUs of this host from this one process. Several jobs may write into one folder: each GPU
  /// has a place of its own there, and one that another job measures now is left to it, and told.
  ExitCode run_host() {
    make_folder(root_);
    std::erase_if(jobs_, [&](GpuJob& job) {
      auto place = claim_folder(root_, job);
      const std::string name = name_of(job.summary);
      if (place)
        claims_.push_back(std::move(*place));
      else
        problems_.push_back({name,
                             fmt::format("another job measures {} into this folder now", name),
                             to_int(ExitCode::gpu_busy)});
      return !place;
    });
    // Those that are left take turns among themselves, and share the counters.
    for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].place = i;
    host_.gpus = jobs_.size();
    if (jobs_.empty() && !arguments_.part)  // whose report is not to be overwritten
      fail(ExitCode::gpu_busy, busy, "run measures these GPUs", root_.string());
    print_line(fmt::format(
        "{} {} of {}, suite {}, into {}.", arguments_.replay ? "Replaying on" : "Measuring",
        counted(jobs_.size(), "GPU"), arguments_.host_name, arguments_.suite, root_.string()));
    inbox_.emplace(SignalInbox::Interrupts::collect);
    if (auto unwritten = measure_host(arguments_, jobs_, host_, *inbox_))
      problems_.push_back(std::move(*unwritten));
    const bool interrupted = inbox_->interrupts() > 0;
    const ExitCode code = arguments_.part ? end_part() : report();
    return interrupted ? ExitCode::interrupted : code;
  }

  /// Measures in a child: if that dies, this rank tells it, and the launcher ends nobody.
  void measure_in_child() {
    FileDescriptor words(memfd_create("words", MFD_CLOEXEC));
    ChildStart start{"fathom", {}, words.get(), STDERR_FILENO};
    start.work = [this] {
      SignalInbox inbox(SignalInbox::Interrupts::collect);
      const auto unwritten = measure_host(arguments_, jobs_, host_, inbox);
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
      if (has_ended(0)) child.signal(SIGKILL);
    };
    const ProcessEnd end =
        supervise(child, *inbox_, {.limit = no_limit, .grace = time_to_stop, .look = look});
    note_.exit_code = end.signal != 0 ? incomplete : end.status;
    note_.reason = last_line_of(fmt::format("/proc/self/fd/{}", words.get()));
    if (end.signal != 0 || (note_.reason.empty() && end.status != 0))
      note_.reason = "it was ended by " + end.describe();
  }

  /// One rank of several.
  ExitCode run_rank(const std::vector<RankWord>& all) {
    const auto seen = read_note(root_, 0);
    if (!seen || seen->run != note_.run)
      fail(ExitCode::setup_incomplete,
           "{} does not see what rank 0 wrote into {}: name a folder on storage that all hosts "
           "share with --out, or start one process a host with --part, copy the folders together, "
           "and collect.",
           arguments_.host_name, root_.string());
    const auto own = static_cast<std::size_t>(rank_);
    std::vector<std::string> others;
    for (const std::size_t other : ranks_of_host(all, own))
      if (other != own) others.push_back(all[other].barrier);
    host_.barrier.join(others, std::chrono::duration<double>(arguments_.time_limit_s));
    if (!first())
      note(unfinished, incomplete, false);
    else
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
  void wait_for_others() {
    const auto begin = Clock::now();
    for (int rank = 1; rank < launcher_->size; ++rank)
      while (!has_ended(rank)) {
        std::chrono::duration<double> limit(arguments_.wait_s);
        if (inbox_->interrupts(200ms) > 0) limit = std::min<decltype(limit)>(limit, time_to_answer);
        if (Clock::now() > begin + limit) return;
      }
  }

  /// What this run has left.
  ExitCode report() {
    fleet::Expected expected = expected_of(arguments_.report);
    expected.run = note_.run;
    fleet::Fleet fleet = fleet::read_fleet(root_, expected);
    if (launcher_) add_rank_problems(fleet, root_, note_);
    fleet.problems.insert(fleet.problems.end(), problems_.begin(), problems_.end());
    return publish_fleet(fleet, arguments_.report);
  }

  /// Others report: what this process' own GPUs make of its exit code.
  ExitCode end_part() {
    fleet::Fleet own;
    own.problems = problems_;
    for (const GpuJob& job : jobs_) own.add(fleet::GpuSummary(job.summary));
    for (const fleet::Problem& problem : problems_)
      fmt::print(stderr, "fathom: {}\n", problem.reason);
    print_line(fmt::format("Documents: {0}; once all jobs are done: fathom fleet collect {0}",
                           root_.string()));
    own.finish();
    return exit_code_of(own);
  }

  FleetRunArguments arguments_;
  const std::optional<Launcher> launcher_;  ///< of several ranks, of which this is one
  const int rank_;
  fs::path& root_ = arguments_.report.out;
  std::optional<SignalInbox> inbox_;  ///< from where an interrupt is not to end this process
  RankNote note_;
  std::vector<FileDescriptor> claims_;  ///< of what no other run may write
  Host host_;
  std::vector<GpuJob> jobs_;
  std::vector<fleet::Problem> problems_;  ///< beside the GPUs' own summaries
};

}  // namespace

ExitCode fleet_run(const FleetRunArguments& given) {
  FleetRunArguments a = given;
  // A list of the nodes of a job has Slurm's names, which need not be the machines' own.
  const auto launcher = find_launcher();
  if (a.host_name.empty() && launcher) a.host_name = launcher->node;
  if (a.host_name.empty()) {
    utsname machine{};
    uname(&machine);
    a.host_name = *machine.nodename ? machine.nodename : "host";
  }
  const bool control = std::ranges::any_of(a.host_name, [](unsigned char c) { return iscntrl(c); });
  if (a.host_name.find('/') != std::string::npos || a.host_name.starts_with('.') || control)
    fail(ExitCode::bad_input, "`{}` cannot be a host's name, since files are named for it.",
         quotable(a.host_name));
  if (a.report.out.empty())
    a.report.out = "fathom-fleet-" + utc_time_for_names(std::chrono::system_clock::now());
  a.report.out = fs::absolute(a.report.out).lexically_normal();
  expected_of(a.report);  // a list that cannot be read is to be known now
  try {
    return FleetRun(a, a.part ? std::nullopt : launcher).run();
  } catch (const Error& error) {
    if (*error.what()) throw;
    return error.code();  // another rank, or MPI, has said why
  }
}

}  // namespace fathom
