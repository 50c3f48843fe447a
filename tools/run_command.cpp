#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "reports/report.h"
#include "results/device_lock.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/merge.h"
#include "results/utc_time.h"
#include "results/version.h"
#include "tools/commands.h"
#include "tools/device_query.h"
#include "tools/held_probes.h"
#include "tools/replay.h"
#include "tools/suites.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

fs::path output_root(const RunArguments& options, const std::string& gpu_name, bool replay) {
  if (!options.out.empty()) return options.out;
  return default_folder_name(gpu_name, replay, std::chrono::system_clock::now());
}

/// The common end of measurement and replay.
void publish(const Document& document, const OutputFolder& folder, bool no_report) {
  if (no_report) return say(fmt::format("Document: {}", folder.result().string()));
  const ReportPaths paths = write_report(document, folder.report());
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  say(terminal_summary(document, colour));
  say(fmt::format("Report: {}", paths.readme.string()));
  if (!paths.atlas.empty()) say(fmt::format("Atlas: {}", paths.atlas.string()));
  for (const fs::path& page : paths.pages) say(fmt::format("Page: {}", page.string()));
}

ExitCode replay(const RunArguments& options, const std::string& why) {
  const Document document = load_replay(recording_path(options.suite), options);
  say(replay_notice(document, why));
  const OutputFolder folder =
      prepare_output_folder(output_root(options, document.fingerprint.gpu_name, true));
  write_document(document, folder.result());
  publish(document, folder, options.no_report);
  return ExitCode::ok;  // nothing was measured, so no check can have failed
}

/// Holds the GPU for the whole run, so that nobody gets in between two probes.
DeviceLock lock_device(const RunArguments& options, const Fingerprint& fingerprint,
                       const OutputFolder& folder) {
  try {
    DeviceLock lock(fingerprint.gpu_uuid_hash,
                    options.wait ? DeviceLock::IfHeld::wait : DeviceLock::IfHeld::fail,
                    std::chrono::hours(1), [](const std::string& holder) {
                      say(fmt::format("Waiting for the GPU, which is in use by {}.", holder));
                    });
    setenv("FATHOM_LOCK_FD", lock.share_with_children().c_str(), 1);
    return lock;
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(folder.root, ignored);  // only an empty one goes
    throw;
  }
}

/// The parts of a run as they come in.
class Run {
 public:
  Run(const RunArguments& options, const OutputFolder& folder, const Fingerprint& fingerprint)
      : options_(options), folder_(folder), fingerprint_(fingerprint) {}

  void measure(const std::vector<ProbeBinary>& probes, SignalInbox& inbox) {
    const std::size_t together = options_.start_together ? most_held_together(fingerprint_) : 1;
    std::optional<HeldProbes> held;
    ProgressLine progress(probes.size());
    for (std::size_t i = 0; i < probes.size(); ++i) {
      if (together > 1 && i % together == 0 && !has_to_stop(inbox)) {
        finish_measured(inbox);
        progress.start_probe(i, probes[i].name);
        held.emplace(std::span(probes).subspan(i, std::min(together, probes.size() - i)), options_,
                     folder_, inbox);
      }
      if (has_to_stop(inbox)) {
        held.reset();
        finish_measured(inbox);
        skip(probes[i]);
        continue;
      }
      progress.start_probe(i, probes[i].name);
      const auto show = [&](const ProbeProgress& p) { progress.update(p); };
      ProbePart part;
      try {
        const std::size_t ending = measured_ && !measured_->process->try_end() ? 1 : 0;
        std::unique_ptr<ProbeProcess> process = held ? held->release_next(ending) : nullptr;
        const bool measured = process && process->wait_until_measured(inbox, show);
        progress.clear();
        finish_measured(inbox);
        if (measured) {
          measured_ = {&probes[i], std::move(process)};
          continue;
        }
        if (!process)
          process = std::make_unique<ProbeProcess>(probes[i], options_, folder_,
                                                   ProbeProcess::Start::at_once);
        part = process->finish(inbox, show);
      } catch (const Error& error) {  // it could not be started: the others' results stay
        part.outcome = {ProbeStatus::failed, error.what(), error.code()};
      }
      progress.clear();
      add(probes[i], std::move(part));
    }
    finish_measured(inbox);
  }

  bool nothing_selected() const { return selected_ == 0; }
  bool all_merged() const { return all_merged_; }

  Document document() const {
    Document merged = merged_.value_or(empty_document());
    for (const auto& summary : missing_) merged.probes.push_back(summary);
    std::stable_sort(merged.probes.begin(), merged.probes.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
    merged.elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
    merged.executable = "fathom";
    merged.suite = options_.suite;  // the parts name the size of their sweep
    if (!options_.counters_of.empty())
      merged.warnings.push_back(
          fmt::format("Hardware counters were asked for of {} only (--counters-of); the other "
                      "probes' cases that only counters can decide were left out.",
                      fmt::join(options_.counters_of, ", ")));
    return merged;
  }

  ExitCode exit_code() const { return combined_exit_code(causes_); }

 private:
  /// One that was started together with others, and only has to end while the next one measures.
  struct Measured {
    const ProbeBinary* probe;
    std::unique_ptr<ProbeProcess> process;
  };

  void finish_measured(SignalInbox& inbox) {
    if (!measured_) return;
    const Measured last = std::move(*measured_);
    measured_.reset();
    add(*last.probe, last.process->finish(inbox, [](const ProbeProgress&) {}));
  }

  bool has_to_stop(SignalInbox& inbox) {
    if (inbox.drain(); inbox.interrupts() > 0 && !stopper_)
      stopper_ = {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
    return stopper_.has_value();
  }

  void add(const ProbeBinary& probe, ProbePart part) {
    if (part.nothing_selected) return;
    ++selected_;
    const ProbeOutcome& outcome = part.outcome;
    causes_.push_back(outcome.cause);
    if (stops_the_run(outcome.cause)) stopper_ = outcome;
    say(fmt::format("{}: {} cases in {}{}", probe.name,
                    part.document ? part.document->entries.size() : 0,
                    spoken_duration(part.elapsed_s),
                    outcome.reason.empty() ? "" : "; incomplete: " + outcome.reason));
    if (part.document)
      merge(probe, *part.document);
    else
      missing_.push_back(missing_summary(probe, outcome));
  }

  /// A part that does not fit (a driver update or another build in the middle of the run) costs its
  /// own results only; its document stays in the folder.
  void merge(const ProbeBinary& probe, const Document& part) {
    try {
      merged_ = merged_ ? merge_documents({*merged_, part}) : part;
    } catch (const Error& error) {
      causes_.push_back(ExitCode::incomplete);
      all_merged_ = false;
      say(fmt::format("{}: {}", probe.name, error.what()));
      missing_.push_back(
          missing_summary(probe, {ProbeStatus::failed, error.what(), ExitCode::incomplete}));
    }
  }

  void skip(const ProbeBinary& probe) {
    ++selected_;
    causes_.push_back(stopper_->cause);
    const ProbeStatus status =
        stopper_->cause == ExitCode::interrupted ? ProbeStatus::interrupted : ProbeStatus::failed;
    missing_.push_back(missing_summary(
        probe, {status, fmt::format("not started: {}", stopper_->reason), stopper_->cause}));
  }

  /// For a run in which no probe left a document: the report still says on what it was tried.
  Document empty_document() const {
    Document document;
    document.date = utc_time(std::chrono::system_clock::now());
    document.fathom_version = version();
    document.fathom_commit = commit();
    document.suite = options_.suite;
    document.seed = std::to_string(options_.seed);
    document.num_cpus = std::thread::hardware_concurrency();
    document.fingerprint = fingerprint_;
    return document;
  }

  const RunArguments& options_;
  const OutputFolder& folder_;
  const Fingerprint& fingerprint_;
  Clock::time_point start_ = Clock::now();
  std::optional<Document> merged_;
  std::vector<ProbeSummary> missing_;
  std::vector<ExitCode> causes_;
  std::optional<ProbeOutcome> stopper_;
  std::optional<Measured> measured_;
  int selected_ = 0;
  bool all_merged_ = true;
};

/// Does what writes results; if that fails, the sentence says where they are instead.
void keeping(const std::string& where, const std::function<void()>& write) {
  try {
    write();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} Nothing is lost: {}.", error.what(), where));
  }
}

ExitCode measure(const RunArguments& options, const std::vector<ProbeBinary>& probes,
                 const Fingerprint& fingerprint) {
  const OutputFolder folder =
      prepare_output_folder(output_root(options, fingerprint.gpu_name, false));
  const DeviceLock lock = lock_device(options, fingerprint, folder);
  make_folder(folder.logs());
  make_folder(folder.parts());
  say(fmt::format("Measuring {} with {} probes, suite {}.", fingerprint.gpu_name, probes.size(),
                  options.suite));
  // Until the report is written: an interrupt ends the measuring, not the keeping of results.
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  Run run(options, folder, fingerprint);
  run.measure(probes, inbox);
  if (run.nothing_selected())
    throw Error(ExitCode::bad_input,
                "No case of any probe matches --benchmark_filter: `probe_copy_bandwidth "
                "--benchmark_list_tests` shows how cases are named.");
  const Document document = run.document();
  keeping("the probes' own documents are in " + folder.parts().string(),
          [&] { write_document(document, folder.result()); });
  keeping("the results are in " + folder.result().string() + ", which `fathom report` reads",
          [&] { publish(document, folder, options.no_report); });
  if (run.all_merged()) {
    std::error_code left_behind;  // a part that stays does no harm: it is in the document now
    fs::remove_all(folder.parts(), left_behind);
  }
  return run.exit_code();
}

}  // namespace

ExitCode run_command(const RunArguments& options) {
  const fs::path programs = program_folder();
  const auto probes = select_probes(find_probes(programs), options.probes,
                                    *find_run_suite(options.suite));
  check_selected("--counters-of", options.counters_of, probes);
  if (options.replay) {
    if (options.require_gpu)
      throw Error(ExitCode::bad_input, "--replay and --require-gpu exclude each other.");
    return replay(options, "a replay was asked for");
  }
  Fingerprint fingerprint;
  try {
    fingerprint = query_device(programs, options.device);
  } catch (const Error& error) {
    // Only a machine without a GPU gets a replay. One whose GPU cannot be used has a problem that
    // wants to be known: a driver that is missing, too old or lost its GPU.
    if (error.code() != ExitCode::no_driver) throw;
    if (const auto address = nvidia_gpu_on_pci(); !address.empty())
      throw Error(ExitCode::no_driver,
                  fmt::format("There is an NVIDIA GPU at PCI address {}, but its driver cannot be "
                              "used: install it, or start the container with the GPU (--gpus all); "
                              "`fathom run --replay` shows a recording meanwhile.",
                              address));
    if (options.require_gpu)
      throw Error(ExitCode::gpu_required,
                  "There is no NVIDIA GPU on this machine, and --require-gpu was given.");
    return replay(options, "no NVIDIA GPU found");
  }
  return measure(options, probes, fingerprint);
}

}  // namespace fathom
