#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "results/files.h"
#include "tools/child_process.h"
#include "tools/command_line.h"

namespace fathom {

/// What the program fathom-fleet has: `fleet run` and `fleet collect`.
std::vector<Command> fleet_commands();

/// What both commands make of a fleet.
struct FleetReportArguments {
  std::filesystem::path out;  ///< of fleet.json and report/
  std::optional<std::size_t> expect_gpus;
  std::string expect_hosts;        ///< a file with one host a line; empty: none
  std::vector<std::string> hosts;  ///< that get a page of their own
  double card_noise_percent = 0.5, least_gap_percent = 1;
  bool strict = false;  ///< a named card fails
  bool no_report = false;
};

struct FleetRunArguments {
  std::string suite = "quick";
  std::string alone = "brief";  ///< what each GPU does by itself: "brief", "full" or "none"
  FleetReportArguments report;
  std::string host_name;  ///< empty: the machine's
  bool replay = false;
  bool no_links = false;
  bool no_counters = false;    ///< else one GPU of a host collects each probe's
  bool part = false;           ///< one of several independent jobs: others report
  double time_limit_s = 1800;  ///< of one part of one GPU
  double wait_s = 120;         ///< of rank 0 for others, after its own
};

/// `fleet run`.
ExitCode fleet_run(const FleetRunArguments& arguments);

/// By those flags. Throws Error(bad_input) for a file that cannot be read.
fleet::Expected expected_of(const FleetReportArguments& arguments);

/// `incomplete` where parts of it are missing; the one cause there is where there are no figures at
/// all, or where it is a failed check.
ExitCode exit_code_of(const fleet::Fleet& fleet);

/// Scores the fleet, writes fleet.json and the report, and prints the summary. Returns the fleet's
/// exit code, and `check_failed` for a named card if that was asked for.
ExitCode publish_fleet(const fleet::Fleet& fleet, const FleetReportArguments& arguments);

// What the files of `fathom fleet run` share, in the order in which it happens.

/// What started this process as one of several ranks, from the variables that it sets.
struct Launcher {
  std::string name;  ///< "Open MPI", "MPICH or Slurm's PMI", "Slurm"
  int rank = 0, size = 1;
  /// The name by which Slurm knows this node, where srun itself has started this process; else
  /// empty: what another launcher's ranks have as such may be another node's.
  std::string node{};
};

/// Nothing for a process that was started by itself, or as the only rank.
std::optional<Launcher> find_launcher();

/// What tells one run from those before it and beside it: random digits.
std::string new_run();

/// What a rank says of itself before all measure.
struct RankWord {
  int leader = 0;         ///< the first rank of its host; MPI knows it
  std::string host{};     ///< its name as the machine or the user has it
  std::string barrier{};  ///< file of its HostBarrier
  /// UUIDs of the GPUs that it sees, a MIG device's with `mig_mark` before it.
  std::vector<std::string> gpus{};
  /// Rank 0 decides for all; no folder: there is nowhere to write.
  std::string run{}, out{};
};

/// CUDA_VISIBLE_DEVICES has a MIG device's UUID in another way.
inline constexpr std::string_view mig_mark = "MIG ";

/// Tells all ranks what each of them says, by MPI. Throws Error(setup_incomplete) where they do not
/// come together, without a sentence where MPI or rank 0 says one.
std::vector<RankWord> exchange(const Launcher& launcher, const std::filesystem::path& root,
                               const RankWord& own, SignalInbox& inbox);

/// The ranks of one host, in their order.
std::vector<std::size_t> ranks_of_host(const std::vector<RankWord>& all, std::size_t rank);

/// Where the processes of one host wait for each other: a file of each in the host's shared memory
/// has as many bytes as the parts that it has come to, and is locked as long as its process lives.
/// Without others nobody is waited for.
class HostBarrier {
 public:
  ~HostBarrier();

  /// Makes the own file, before the others hear its name. Empty where it cannot be made: the others
  /// do not wait for this process then, and it not for them.
  std::string make_own();
  /// The others' files, and for how long one is waited for.
  void join(const std::vector<std::string>& others, std::chrono::duration<double> limit);
  /// In the process that started the one that is waited for.
  void leave_to_child() { own_.close(); }

  /// Waits until all are there. False where one of them is gone, or did not come in time: from then
  /// on nobody waits, and nothing can be said to have been alone.
  bool all_here(SignalInbox& inbox);

 private:
  std::filesystem::path file_;
  FileDescriptor own_;
  std::vector<FileDescriptor> others_;
  std::chrono::duration<double> limit_{};
  int parts_ = 0;
  bool broken_ = false;
};

/// What a process knows of its host.
struct Host {
  std::size_t gpus = 1;  ///< that are measured, in all its processes
  /// All of them, as CUDA_VISIBLE_DEVICES has them, this process' first; empty: those that this
  /// process sees.
  std::string visible_devices{};
  bool leader = true;  ///< measures the links
  HostBarrier barrier{};
};

/// A GPU that this process sees or measures, or a replay in its place, and what is known of it so
/// far.
struct GpuJob {
  std::string uuid{}, pci_bus_id{};  ///< as CUDA_VISIBLE_DEVICES takes it; empty: no GPU
  bool only_visible = false;         ///< this process sees no other: what it runs needs no mask
  std::size_t place = 0;             ///< its turn among the GPUs of its host that are measured
  fleet::GpuSummary summary{};
};

/// The GPUs that a rank takes: the only rank of a host, as a process without a launcher is, all
/// that it sees; else each the first one that no rank before it has. A rank without a GPU has a job
/// that says why. A host's name gets a number where another host's ranks have the same one. Says in
/// `host` what GPUs the host has in all ranks. `seen`: those that it sees; none in a replay.
std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments,
                                 const std::vector<RankWord>& all, std::size_t rank,
                                 const std::vector<GpuJob>& seen, Host& host);

/// A lock on a file that is made for it, held until what comes back is closed; nothing: another
/// process has it. Storage without locks gives one to everybody: that is no reason not to measure.
std::optional<FileDescriptor> lock_file(const std::filesystem::path& file);

/// What a GPU has of its own in a fleet's folder.
std::filesystem::path gpu_folder(const std::filesystem::path& root, const fleet::GpuSummary& gpu);

/// Gives the job of a GPU the first number from its own on that no other GPU of its host's name has
/// in this folder. What comes back holds the place until it is closed; nothing: another process
/// measures this GPU into it now. Throws Error(output_unwritable) or Error(output_full).
std::optional<FileDescriptor> claim_folder(const std::filesystem::path& root, GpuJob& job);

/// Says in each job's summary what counters its suite is to collect: all, `counters_of`, or none
/// and why. A host's `gpus` are dealt the probes in turn, in the order in which they run, by their
/// places, so that ranks need not ask each other.
void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs);

/// Measures the jobs' GPUs, each alone and all together, then what links them; writes each summary
/// after each part, so that whatever ends this process costs no more than a part. Throws nothing:
/// the others of its host wait for this process at each part. Returns what could not be written.
std::optional<fleet::Problem> measure_host(const FleetRunArguments& arguments,
                                           std::vector<GpuJob>& jobs, Host& host,
                                           SignalInbox& inbox);

/// What one of a GPU's runs left, and what its end says of it.
struct PartResult {
  std::optional<Document> document;
  fleet::GpuStatus status = fleet::GpuStatus::complete;
  std::string reason;  ///< why figures are missing, or what else went wrong
  int exit_code = 0;   ///< of a failed check or refused counters beside complete figures too
};

/// Never throws for what is missing or cannot be read. `limit_s`: what it was given.
PartResult result_of(const ProcessEnd& end, const std::filesystem::path& document,
                     const std::filesystem::path& log, double limit_s);

/// What a rank of a job leaves on the storage that all share (ranks/<rank>.note): before it
/// measures, and again at its end.
struct RankNote {
  std::string run{};  ///< which job it is of
  int size = 1;       ///< of the job
  std::string host{};
  std::string reason{};  ///< a clause; empty: nothing went wrong beside its GPUs' own summaries
  int exit_code = 0;
  bool ended = false;
};

/// What cannot be written is said on standard error, and nothing else is lost.
void leave_note(const std::filesystem::path& root, int rank, const RankNote& note);

/// Nothing where there is none, or none that can be read.
std::optional<RankNote> read_note(const std::filesystem::path& root, int rank);

/// Adds to a fleet what went wrong with the ranks of a job, of which rank 0's note is `first`, and
/// who left no note. Goes to the row of the rank's GPU where it has one that is not complete, since
/// one death is one problem.
void add_rank_problems(fleet::Fleet& fleet, const std::filesystem::path& root,
                       const std::optional<RankNote>& first);

}  // namespace fathom
