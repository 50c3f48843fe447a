#include "tools/fleet/measure.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/format.h"
#include "results/utc_time.h"
#include "tools/fleet/children.h"
#include "tools/fleet/cpus.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// What sharing a host can slow down, in seconds: its link, and one copy at full power. Repeated
/// when all do it, so that they do it at the same time.
constexpr const char* brief_filter =
    "host/pinned/copy engine/|copy_bandwidth/best/block:320/size:1GiB";
constexpr int brief_repetitions_together = 5;

// A run that is told to stop ends its probe first, which has five seconds itself.
constexpr std::chrono::seconds grace{15};

std::string last_line_of(const fs::path& log) {
  std::ifstream file(log);
  return last_line(std::string(std::istreambuf_iterator<char>(file), {}));
}

const char* folder_name(bool alone, bool suite) {
  return suite ? "suite" : alone ? "alone" : "together";
}

FileDescriptor open_log(const fs::path& path) {
  FileDescriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (log.get() < 0)
    throw Error(ExitCode::output_unwritable,
                fmt::format("{} cannot be written ({})", path.string(), std::strerror(errno)));
  return log;
}

/// What a run left; nothing where it left nothing, or what cannot be read.
struct ReadBack {
  std::optional<Document> document;
  std::string problem;
};

ReadBack read_back(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  try {
    return {read_document(file), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

/// What a run's exit says of its figures; an empty reason: all there.
struct Judged {
  fleet::GpuStatus status = fleet::GpuStatus::complete;
  std::string reason;
};

Judged judge(const SupervisedEnd& ended, const std::optional<Document>& document,
             const std::string& last_words, double limit_s) {
  using fleet::GpuStatus;
  const GpuStatus kept =
      document && !document->entries.empty() ? GpuStatus::partial : GpuStatus::failed;
  const auto with_words = [&](const std::string& what) {
    return last_words.empty() ? what : fmt::format("{}: {}", what, last_words);
  };
  if (ended.stopped == Stopped::time_limit)
    return {kept, fmt::format("it hit its time limit of {} s (--time-limit)", limit_s)};
  if (ended.stopped == Stopped::interrupt) return {kept, "interrupted"};
  if (ended.end.signal != 0)
    return {kept, with_words("its run was ended by " + ended.end.describe())};
  if (document)
    for (const ProbeSummary& probe : document->probes)
      if (probe.status != ProbeStatus::complete)
        return {kept, fmt::format("{}: {}", probe.name, probe.status_reason)};
  switch (static_cast<ExitCode>(ended.end.status)) {
    case ExitCode::ok:
      return {};
    case ExitCode::check_failed:
      return {GpuStatus::complete, "a check failed: see its document"};
    case ExitCode::counters_unavailable:
      return {GpuStatus::complete,
              "hardware counters are not permitted or not there; times are complete"};
    default:
      return {kept, with_words("its run ended with " + ended.end.describe())};
  }
}

}  // namespace

fs::path FleetFolder::gpu(const std::string& host, int number) const {
  return root / "gpus" / fmt::format("{}-{}", host, number);
}
fs::path FleetFolder::links(const std::string& host) const { return root / "links" / host; }
fs::path FleetFolder::rank_note(int rank) const {
  return root / "ranks" / fmt::format("{}.note", rank);
}

fs::path FleetFolder::rank_done(int rank) const {
  return root / "ranks" / fmt::format("{}.done", rank);
}
fs::path FleetFolder::all_done() const { return root / "ranks" / "all.done"; }

bool FleetFolder::all_ended_without_first(int ranks) const {
  std::error_code ignored;
  if (!fs::exists(rank_note(0), ignored)) return false;
  for (int rank = 1; rank < ranks; ++rank)
    if (!fs::exists(rank_done(rank), ignored) && !fs::exists(rank_note(rank), ignored))
      return false;
  return true;
}

GpuJob job_of(const VisibleGpu& gpu, const std::string& host, int number, int slot,
              std::optional<int> rank) {
  GpuJob job = replay_job(host, number, slot, rank);
  job.gpu = gpu;
  fleet::GpuSummary& s = job.summary;
  s.source = Source::measured;
  s.gpu_name = gpu.name;
  s.uuid_hash = gpu.uuid_hash;
  s.health.pcie_generation = gpu.pcie_generation;
  s.health.pcie_width = gpu.pcie_width;
  s.health.uncorrected_ecc_errors = gpu.uncorrected_ecc_errors;
  s.health.remapped_rows = gpu.remapped_rows;
  s.health.remapping_failed = gpu.remapping_failed;
  s.health.remapping_pending = gpu.remapping_pending;
  s.health.other_processes = gpu.processes;
  return job;
}

GpuJob replay_job(const std::string& host, int number, int slot, std::optional<int> rank) {
  GpuJob job;
  job.slot = slot;
  fleet::GpuSummary& s = job.summary;
  s.host = host;
  s.gpu = number;
  s.rank = rank;
  s.source = Source::replay;
  s.date = utc_time(std::chrono::system_clock::now());
  s.status = fleet::GpuStatus::failed;
  s.reason = "it was not measured";
  s.exit_code = to_int(ExitCode::incomplete);
  return job;
}

HostMeasurement::HostMeasurement(const FleetRunArguments& arguments, const FleetFolder& folder,
                                 std::vector<GpuJob>& jobs, HostTurns& turns, SignalInbox& inbox)
    : arguments_(arguments),
      folder_(folder),
      jobs_(jobs),
      turns_(turns),
      inbox_(inbox),
      program_(fs::read_symlink("/proc/self/exe").parent_path() / "fathom") {}

void HostMeasurement::run() {
  for (const GpuJob& job : jobs_) {
    make_folder(folder_.gpu(job.summary.host, job.summary.gpu));
    write(job);
  }
  const bool shared = turns_.gpus() > 1;
  if (shared && arguments_.alone != "none") measure_alone();
  if (shared && arguments_.alone == "brief" && !arguments_.replay) measure_at_once(Part::together);
  measure_at_once(Part::suite);
  if (!arguments_.no_links && !arguments_.replay) measure_links();
}

void HostMeasurement::measure_alone() {
  // A replay has nothing to take turns for, but it goes the same way.
  if (arguments_.replay && arguments_.alone == "brief") return;
  for (int slot = 0; slot < turns_.gpus(); ++slot) {
    const bool exclusive = turns_.all_here();
    std::vector<GpuJob*> mine;
    for (GpuJob& job : jobs_)
      if (job.slot == slot) mine.push_back(&job);
    if (mine.empty() || stopped()) continue;
    if (exclusive)
      run_part(Part::alone, mine);
    else
      for (GpuJob* job : mine)
        note(*job, fleet::GpuStatus::partial,
             "not measured alone: another rank of its host is gone", to_int(ExitCode::incomplete));
  }
}

void HostMeasurement::measure_at_once(Part part) {
  turns_.all_here();
  std::vector<GpuJob*> all;
  for (GpuJob& job : jobs_) all.push_back(&job);
  if (!stopped()) run_part(part, all);
}

ChildStart HostMeasurement::start_of(const GpuJob& job, Part part, int log) const {
  const fs::path out = folder_.gpu(job.summary.host, job.summary.gpu) /
                       folder_name(part == Part::alone, part == Part::suite);
  ChildStart start{
      program_, {"run", "--out", out.string(), "--no-report"}, log, log, std::nullopt, {}, {}};
  auto& flags = start.arguments;
  const bool brief = part == Part::together || (part == Part::alone && arguments_.alone == "brief");
  if (brief) {
    flags.insert(flags.end(), {"--suite", "quick", "--probe", "links", "--probe", "copy_bandwidth",
                               "--no-counters", std::string("--benchmark_filter=") + brief_filter});
    if (part == Part::together)
      flags.push_back(fmt::format("--benchmark_repetitions={}", brief_repetitions_together));
  } else {
    flags.insert(flags.end(), {"--suite", arguments_.suite});
    if (arguments_.no_counters) flags.push_back("--no-counters");
  }
  if (!job.gpu) {
    flags.push_back("--replay");
    return start;
  }
  flags.push_back("--require-gpu");
  // Not where there is no other: a MIG device's UUID is written another way.
  if (!job.only_visible) start.environment = {{"CUDA_VISIBLE_DEVICES", job.gpu->uuid}};
  start.cpus = cpus_near(job.gpu->pci_bus_id);
  return start;
}

void HostMeasurement::run_part(Part part, const std::vector<GpuJob*>& jobs) {
  const auto start = Clock::now();
  std::vector<std::unique_ptr<ChildProcess>> children;
  std::vector<GpuJob*> started;
  for (GpuJob* job : jobs) {
    if (!job->gpu && !arguments_.replay) continue;  // its summary says why it has none
    const fs::path folder = folder_.gpu(job->summary.host, job->summary.gpu);
    const fs::path log_path =
        folder / fmt::format("{}.log", folder_name(part == Part::alone, part == Part::suite));
    try {
      const FileDescriptor log = open_log(log_path);
      // What an earlier run left in the folder is not this one's.
      std::error_code ignored;
      fs::remove_all(folder / folder_name(part == Part::alone, part == Part::suite), ignored);
      children.push_back(std::make_unique<ChildProcess>(start_of(*job, part, log.get())));
      started.push_back(job);
    } catch (const Error& error) {
      note(*job, fleet::GpuStatus::failed, error.what(), to_int(error.code()));
    }
  }
  const auto ends = supervise_all(children, inbox_, limit(), grace);
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
  for (std::size_t i = 0; i < started.size(); ++i)
    take_result(*started[i], part, ends[i], elapsed_s);
}

void HostMeasurement::take_result(GpuJob& job, Part part, const SupervisedEnd& end,
                                  double elapsed_s) {
  fleet::GpuSummary& summary = job.summary;
  const fs::path folder = folder_.gpu(summary.host, summary.gpu);
  const std::string name = folder_name(part == Part::alone, part == Part::suite);
  const auto [document, unreadable] = read_back(folder / name / "result.json");
  const Judged judged =
      judge(end, document, unreadable.empty() ? last_line_of(folder / (name + ".log")) : unreadable,
            arguments_.time_limit_s);
  const int status = end.end.signal != 0 ? to_int(ExitCode::probe_crashed) : end.end.status;
  if (document) {
    const bool alone = part == Part::alone || turns_.gpus() == 1;
    const fleet::Health before = summary.health;
    fleet::add_document(summary, *document, alone ? fleet::Phase::alone : fleet::Phase::together);
    // The driver's own answers are better than what the fingerprint's words say.
    if (before.pcie_width) summary.health.pcie_width = before.pcie_width;
    if (before.pcie_generation) summary.health.pcie_generation = before.pcie_generation;
    if (!job.gpu) summary.uuid_hash = fmt::format("replay of {}", name_of(summary));
  }
  std::optional<double>& elapsed = part == Part::alone      ? summary.elapsed_s.alone
                                   : part == Part::together ? summary.elapsed_s.together
                                                            : summary.elapsed_s.suite;
  elapsed = elapsed_s;
  // The suite decides; the brief parts cost their own figures only.
  if (part == Part::suite || judged.status != fleet::GpuStatus::complete)
    note(job, part == Part::suite ? judged.status : fleet::GpuStatus::partial,
         judged.reason.empty() ? "" : fmt::format("{}: {}", name, judged.reason),
         judged.status == fleet::GpuStatus::complete ? 0 : std::max(1, status));
  else
    write(job);
}

void HostMeasurement::note(GpuJob& job, fleet::GpuStatus status, const std::string& reason,
                           int exit_code) {
  fleet::GpuSummary& s = job.summary;
  const bool was_partial = s.status == fleet::GpuStatus::partial;
  const std::string before = was_partial ? s.reason : "";
  s.status =
      was_partial && status == fleet::GpuStatus::complete ? fleet::GpuStatus::partial : status;
  s.reason = before.empty() || reason.empty() ? before + reason : before + "; " + reason;
  if (!was_partial || exit_code != 0) s.exit_code = exit_code;
  write(job);
}

void HostMeasurement::write(const GpuJob& job) const {
  write_file_atomically(folder_.gpu(job.summary.host, job.summary.gpu) / fleet::summary_file,
                        to_text(job.summary));
}

void HostMeasurement::measure_links() {
  const bool exclusive = turns_.all_here();
  if (!turns_.leader() || stopped() || jobs_.empty() || !jobs_.front().gpu) return;
  GpuJob& job = jobs_.front();
  const fs::path folder = folder_.links(job.summary.host);
  std::string reason;
  int code = to_int(ExitCode::incomplete);
  try {
    std::error_code ignored;
    fs::remove_all(folder, ignored);  // of an earlier run
    make_folder(folder);
    const fs::path log_path = folder.string() + ".log";
    const FileDescriptor log = open_log(log_path);
    ChildStart start{program_,
                     {"run", "--suite", "atlas", "--probe", "links", "--no-counters", "--no-report",
                      "--require-gpu", "--out", folder.string()},
                     log.get(),
                     log.get(),
                     std::nullopt,
                     {},
                     cpus_near(job.gpu->pci_bus_id)};
    if (const std::string devices = turns_.visible_devices(); !devices.empty())
      start.environment = {{"CUDA_VISIBLE_DEVICES", devices}};
    std::vector<std::unique_ptr<ChildProcess>> children;
    children.push_back(std::make_unique<ChildProcess>(start));
    const SupervisedEnd end = supervise_all(children, inbox_, limit(), grace).front();
    const ReadBack read = read_back(folder / "result.json");
    reason = judge(end, read.document, read.problem.empty() ? last_line_of(log_path) : read.problem,
                   arguments_.time_limit_s)
                 .reason;
    if (end.end.signal == 0 && end.end.status != 0) code = end.end.status;
  } catch (const Error& error) {
    reason = error.what();
    code = to_int(error.code());
  }
  if (reason.empty() && !exclusive) reason = "measured while other ranks may have worked";
  if (!reason.empty()) note(job, fleet::GpuStatus::partial, "links: " + reason, code);
}

}  // namespace fathom
