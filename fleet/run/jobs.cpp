#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "fleet/run/run.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// Whether a summary is of this GPU. One that cannot be read is somebody else's.
bool is_of(const fs::path& file, const fleet::GpuSummary& gpu) try {
  const auto there = fleet::parse_summary(read_file_up_to(file, document_size_limit), file);
  return there.host == gpu.host && there.uuid_hash == gpu.uuid_hash;
} catch (const Error&) {
  return false;
}

/// Makes a file that is not there yet, which of several processes only one can; false where it is.
bool make_file(const fs::path& file, const std::string& text) {
  const FileDescriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (made.get() < 0 && errno == EEXIST) return false;
  if (made.get() < 0) fail_write(file, errno);
  try {
    write_all(made.get(), text, file);
  } catch (const Error&) {
    unlink(file.c_str());  // else the GPU's next run takes it for another GPU's
    throw;
  }
  return true;
}

}  // namespace

fs::path gpu_folder(const fs::path& root, const fleet::GpuSummary& gpu) {
  return root / "gpus" / fmt::format("{}-{}", gpu.host, gpu.gpu);
}

std::string new_run() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs) {
  if (arguments.replay) return;  // it repeats those of the recording
  if (gpus < 2 && !arguments.no_counters) return;
  std::vector<ProbeBinary> probes;
  std::string none_left = arguments.no_counters
                              ? "not asked for (--no-counters)"
                              : "its host has more GPUs than the suite has probes";
  try {
    if (!arguments.no_counters)
      probes = select_probes(find_probes(program_folder()), {}, *find_run_suite(arguments.suite));
  } catch (const Error& error) {
    none_left = fmt::format("it is not known which probes there are: {}", error.what());
  }
  for (GpuJob& job : jobs) {
    if (job.uuid.empty()) continue;  // its summary says why
    for (std::size_t i = job.place; i < probes.size(); i += gpus)
      job.summary.counters_of.push_back(probes[i].name);
    if (job.summary.counters_of.empty()) job.summary.no_counters = none_left;
  }
}

std::optional<FileDescriptor> lock_file(const fs::path& file) {
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::nullopt;
  return lock;
}

std::optional<FileDescriptor> claim_folder(const fs::path& root, GpuJob& job) {
  fleet::GpuSummary& gpu = job.summary;
  make_folder(root / "gpus");
  // One process at a time chooses: none looks at a summary that another has not written yet.
  const FileDescriptor turn(
      open((root / "gpus/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  flock(turn.get(), LOCK_EX);
  for (;; ++gpu.gpu) {
    const fs::path folder = gpu_folder(root, gpu), file = folder / fleet::summary_file;
    make_folder(folder);
    if (make_file(file, to_text(gpu)) || is_of(file, gpu)) return lock_file(folder / ".lock");
  }
}

PartResult result_of(const ProcessEnd& end, const fs::path& document, const fs::path& log,
                     double limit_s) {
  PartResult result;
  std::string last_words;
  std::error_code ignored;
  try {
    if (fs::exists(document, ignored)) result.document = read_document(document);
    last_words = last_line_of(log);
  } catch (const Error& error) {
    last_words = error.what();
  }
  if (!last_words.empty()) last_words.insert(0, ": ");
  const auto lacking = [&](const std::string& reason) {
    const bool any = result.document && !result.document->entries.empty();
    const int status = end.signal != 0 ? to_int(ExitCode::probe_crashed) : end.status;
    result.status = any ? fleet::GpuStatus::partial : fleet::GpuStatus::failed;
    result.reason = reason;
    result.exit_code =
        status > to_int(ExitCode::check_failed) ? status : to_int(ExitCode::incomplete);
    return result;
  };
  const auto probes = result.document ? result.document->probes : std::vector<ProbeSummary>();
  if (end.stopped == Stopped::time_limit) {
    const auto at = std::ranges::find_if(probes, [](const ProbeSummary& probe) {
      return probe.status == ProbeStatus::interrupted &&
             !probe.status_reason.starts_with("not started");
    });
    return lacking(fmt::format("it hit its time limit of {} s (--time-limit){}", limit_s,
                               at == probes.end() ? "" : " at the probe " + at->name));
  }
  if (end.stopped == Stopped::interrupt) return lacking("interrupted");
  if (end.signal != 0) return lacking("its run was ended by " + end.describe() + last_words);
  for (const ProbeSummary& probe : probes)
    if (probe.status != ProbeStatus::complete)
      return lacking(fmt::format("{}: {}", probe.name, probe.status_reason));
  result.exit_code = end.status;
  if (end.status == to_int(ExitCode::check_failed))
    result.reason = "a check failed: see its document";
  else if (end.status == to_int(ExitCode::counters_unavailable))
    result.reason = "hardware counters are not permitted or not there; times are complete";
  else if (end.status != 0)
    return lacking("its run ended with " + end.describe() + last_words);
  return result;
}

}  // namespace fathom
