#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "results/device_lock.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/text.h"
#include "results/version.h"
#include "tools/commands.h"
#include "tools/device_query.h"
#include "tools/probe_runner.h"
#include "tools/recordings.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

fs::path output_root(const RunArguments& options, const std::string& gpu_name, bool replay) {
  if (!options.out.empty()) return options.out;
  return default_folder_name(gpu_name, replay, std::chrono::system_clock::now());
}

/// The common end of measurement and replay.
void publish(const Document& document, const OutputFolder& folder, const RunArguments& options) {
  if (options.no_report) return print_line(fmt::format("Document: {}", folder.result().string()));
  publish_report(document, folder.report(), "result.json", options.recordings);
}

ExitCode replay(const RunArguments& options, const std::string& why) {
  const fs::path recording = replayed_recording(options.suite);
  if (!options.out.empty())
    require_distinct({{"the recording", recording}},
                     {{"--out", OutputFolder{options.out}.result()}});
  const Document document = load_replay(recording, options);
  print_line(
      fmt::format("REPLAY: {}; replaying the recording of {} from {}. Nothing below was measured "
                  "here.",
                  why, document.fingerprint.gpu_name, document.date));
  const OutputFolder folder =
      prepare_output_folder(output_root(options, document.fingerprint.gpu_name, true));
  write_document(document, folder.result());
  publish(document, folder, options);
  return ExitCode::ok;  // nothing was measured, so no check can have failed
}

/// Without a GPU a run is a replay. A machine that has one all the same, which cannot be used, has
/// a problem that wants to be known.
ExitCode replay_without_gpu(const RunArguments& options, ExitCode code, const char* problem) {
  if (const auto address = nvidia_gpu_on_pci(); !address.empty())
    fail(code, "There is an NVIDIA GPU at PCI address {}, but {}", address, problem);
  if (options.require_gpu)
    throw Error(ExitCode::gpu_required,
                "There is no NVIDIA GPU on this machine, and --require-gpu was given.");
  return replay(options, "no NVIDIA GPU found");
}

/// Holds the GPU for the whole run, so that nobody gets in between two probes.
DeviceLock lock_device(const RunArguments& options, const Fingerprint& fingerprint) {
  DeviceLock lock(fingerprint.gpu_uuid_hash, std::chrono::hours(options.wait ? 1 : 0),
                  [](const std::string& holder) {
                    print_line(fmt::format("Waiting for the GPU, which is in use by {}.", holder));
                  });
  setenv("FATHOM_LOCK_FD", lock.share_with_children().c_str(), 1);
  return lock;
}

/// A summary for a probe that left no document.
ProbeSummary missing_summary(const ProbeBinary& probe, const ProbeOutcome& outcome) {
  ProbeSummary summary;
  summary.name = probe.name;
  summary.question = probe.question;
  summary.method = probe.method;
  summary.status = outcome.status;
  summary.status_reason =
      fmt::format("{}; it would have answered {}", outcome.reason, fmt::join(probe.claims, ", "));
  return summary;
}

/// Measures the probes one after the other: one document and one exit code of what came of them.
class Run {
 public:
  Run(const RunArguments& options, const OutputFolder& folder, const Fingerprint& fingerprint,
      SignalInbox& inbox)
      : options_(options), folder_(folder), fingerprint_(fingerprint), inbox_(inbox) {}

  void measure(const std::vector<ProbeBinary>& probes) {
    const std::size_t together = options_.start_together ? most_held_together(fingerprint_) : 1;
    HeldProbes up(probes.size());
    std::optional<std::size_t> ending;  // it has measured, and ends while the next one measures
    const auto finish = [&](std::size_t i) {
      add(probes[i], up[i]->finish(inbox_));
      up[i].reset();
    };
    const auto finish_ending = [&] {
      if (ending) finish(*std::exchange(ending, std::nullopt));
    };
    ProgressLine progress(probes.size());
    for (std::size_t i = 0; i < probes.size(); ++i) {
      if (together > 1 && i % together == 0 && !has_to_stop()) {
        finish_ending();
        progress.start_probe(i, probes[i].name);
        const std::size_t group = std::min(together, probes.size() - i);
        HeldProbes held =
            start_held(std::span(probes).subspan(i, group), options_, folder_, inbox_);
        std::ranges::move(held, up.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (has_to_stop()) {
        for (std::size_t waiting = i; waiting < up.size(); ++waiting) up[waiting].reset();
        finish_ending();
        skip(probes[i]);
        continue;
      }
      progress.start_probe(i, probes[i].name);
      try {
        if (!up[i]) {
          progress.clear();
          finish_ending();
          up[i] =
              std::make_unique<ProbeProcess>(probes[i], options_, folder_, HeldRun::Start::at_once);
        }
        const auto beside = std::ranges::count_if(
            up, [&](const auto& other) { return other && other != up[i] && !other->try_end(); });
        const bool measured = up[i]->measure(static_cast<std::size_t>(beside), inbox_,
                                             [&](const ProbeProgress& p) { progress.update(p); });
        progress.clear();
        finish_ending();
        if (measured)
          ending = i;
        else
          finish(i);
      } catch (const Error& error) {  // it could not be started: the others' results stay
        progress.clear();
        add(probes[i], {.outcome = {ProbeStatus::failed, error.what(), error.code()}});
      }
    }
    finish_ending();
  }

  bool nothing_selected() const { return causes_.empty(); }
  bool all_merged() const { return all_merged_; }
  ExitCode exit_code() const { return combined_exit_code(causes_); }
  Document document() const {
    Document merged = merged_.value_or(empty_document());
    for (const auto& summary : missing_) merged.probes.push_back(summary);
    std::ranges::stable_sort(merged.probes, {}, &ProbeSummary::name);
    merged.elapsed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    merged.executable = "fathom";
    merged.suite = options_.suite;  // the parts name the size of their sweep
    if (!options_.counters_of.empty())
      merged.warnings.push_back(
          fmt::format("Hardware counters were asked for of {} only (--counters-of); the other "
                      "probes' cases that only counters can decide were left out.",
                      fmt::join(options_.counters_of, ", ")));
    return merged;
  }

 private:
  /// Says how a probe ended, and merges what it left.
  void add(const ProbeBinary& probe, const ProbePart& part) {
    if (part.nothing_selected) return;
    const ProbeOutcome& outcome = part.outcome;
    causes_.push_back(outcome.cause);
    if (stops_the_run(outcome.cause)) stopper_ = outcome;
    print_out(fmt::format("{}: {} cases in {}{}\n", probe.name,
                          part.document ? part.document->entries.size() : 0,
                          spoken_duration(part.elapsed_s),
                          outcome.reason.empty() ? "" : "; incomplete: " + clean(outcome.reason)));
    if (!part.document) return missing_.push_back(missing_summary(probe, outcome));
    // A part that does not fit (a driver update or another build in the middle of the run) costs
    // its own results only; its document stays in the folder.
    try {
      if (merged_)
        add_part(*merged_, *part.document);
      else
        merged_ = *part.document;
    } catch (const Error& error) {
      causes_.push_back(ExitCode::incomplete);
      all_merged_ = false;
      print_out(fmt::format("{}: {}\n", probe.name, clean(error.what())));
      missing_.push_back(
          missing_summary(probe, {ProbeStatus::failed, error.what(), ExitCode::incomplete}));
    }
  }

  /// One that is not started, once the run is stopped.
  void skip(const ProbeBinary& probe) {
    causes_.push_back(stopper_->cause);
    const ProbeStatus status =
        stopper_->cause == ExitCode::interrupted ? ProbeStatus::interrupted : ProbeStatus::failed;
    missing_.push_back(missing_summary(
        probe, {status, fmt::format("not started: {}", stopper_->reason), stopper_->cause}));
  }

  /// For an interrupt, or for what ended a probe and would end the others, too.
  bool has_to_stop() {
    inbox_.drain();
    if (inbox_.interrupts() > 0 && !stopper_)
      stopper_ = {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
    return stopper_.has_value();
  }

  /// For a run in which no probe left a document: the report still says on what it was tried.
  Document empty_document() const {
    Document document;
    document.date = utc_time(std::chrono::system_clock::now());
    document.fathom_version = version();
    document.fathom_commit = commit();
    document.seed = std::to_string(options_.seed);
    document.num_cpus = std::thread::hardware_concurrency();
    document.fingerprint = fingerprint_;
    return document;
  }

  const RunArguments& options_;
  const OutputFolder& folder_;
  const Fingerprint& fingerprint_;
  SignalInbox& inbox_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Document> merged_;
  std::vector<ProbeSummary> missing_;
  std::vector<ExitCode> causes_;  ///< of each that was selected, and of parts that did not fit
  std::optional<ProbeOutcome> stopper_;
  bool all_merged_ = true;
};

/// Does what writes results; if that fails, the sentence says where they are instead.
void keeping(const std::string& where, const std::function<void()>& write) {
  try {
    write();
  } catch (const Error& error) {
    fail(error.code(), "{} Nothing is lost: {}.", error.what(), where);
  }
}

ExitCode measure(const RunArguments& options, const std::vector<ProbeBinary>& probes,
                 const Fingerprint& fingerprint) {
  const DeviceLock lock = lock_device(options, fingerprint);
  const OutputFolder folder =
      prepare_output_folder(output_root(options, fingerprint.gpu_name, false));
  make_folder(folder.logs());
  make_folder(folder.parts());
  print_line(fmt::format("Measuring {} with {}, suite {}.", fingerprint.gpu_name,
                         counted(probes.size(), "probe"), options.suite));
  // Until the report is written: an interrupt ends the measuring, not the keeping of results.
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  Run run(options, folder, fingerprint, inbox);
  run.measure(probes);
  if (run.nothing_selected())
    throw Error(ExitCode::bad_input,
                "No case of any probe matches --benchmark_filter: `probe_copy_bandwidth "
                "--benchmark_list_tests` shows how cases are named.");
  const Document document = run.document();
  keeping("the probes' own documents are in " + folder.parts().string(),
          [&] { write_document(document, folder.result()); });
  keeping("the results are in " + folder.result().string() + ", which `fathom report` reads",
          [&] { publish(document, folder, options); });
  if (run.all_merged()) {
    std::error_code left_behind;  // a part that stays does no harm: it is in the document now
    fs::remove_all(folder.parts(), left_behind);
  }
  return run.exit_code();
}

ExitCode run(const RunArguments& options) {
  // It needs no programs, of which those of its suite may not be built.
  if (options.replay) return replay(options, "a replay was asked for");
  const fs::path programs = program_folder();
  if (!has_probes(programs))
    return replay_without_gpu(
        options, ExitCode::setup_incomplete,
        "this build has no probes: build them with ./fathom run, or see a recording with "
        "--replay.");
  const auto probes =
      select_probes(find_probes(programs), options.probes, *find_run_suite(options.suite));
  check_names("--counters-of", options.counters_of, probes);
  Fingerprint fingerprint;
  try {
    fingerprint = query_device(programs, options.device);
  } catch (const Error& error) {
    if (error.code() != ExitCode::no_driver) throw;
    return replay_without_gpu(
        options, ExitCode::no_driver,
        "its driver cannot be used: install it, or start the container with the GPU (--gpus all); "
        "`fathom run --replay` shows a recording meanwhile.");
  }
  return measure(options, probes, fingerprint);
}

void add_run(CLI::App& app, RunArguments& options) {
  word_flag(app, "--suite", options.suite,
            "quick (under a minute), default (under three minutes), or another of `fathom list`",
            suite_names());
  app.add_option("--probe", options.probes,
                 "Only this probe, of whichever group; may be given several times")
      ->type_name("NAME");
  path_flag(app, "--out", options.out,
            "Folder for document, report and logs; what an earlier run left there is overwritten "
            "(default: fathom-<gpu>-<UTC time>)",
            "DIR");
  checked_flag(app, "--device", options.device, "CUDA device ordinal", ordinal(), "N")
      ->capture_default_str();
  CLI::Option* no_counters =
      app.add_flag("--no-counters", options.no_counters, "Do not collect hardware counters");
  app.add_option("--counters-of", options.counters_of,
                 "Only this probe collects hardware counters, and the others leave out the cases "
                 "that only counters can decide; may be given several times")
      ->excludes(no_counters)
      ->type_name("NAME");
  CLI::Option* require_gpu =
      app.add_flag("--require-gpu", options.require_gpu,
                   "Fail with exit code 3 where there is no GPU, instead of replaying a recording");
  app.add_flag("--replay", options.replay, "Replay the recording even if there is a GPU")
      ->excludes(require_gpu);
  app.add_flag("--wait", options.wait, "Wait if another Fathom holds the GPU");
  // Profilers of several processes get into each other's way, even of those that wait.
  app.add_flag("--start-together", options.start_together,
               "Start all probes at once, as far as the GPU's memory has room for them; they still "
               "measure one after the other, and a short run ends sooner (with --no-counters)")
      ->needs(no_counters);
  app.add_flag("--no-report", options.no_report, "Write the document only");
  add_recordings_flag(app, options.recordings);
  checked_flag(app, "--seed", options.seed, "Seed of the random data", whole_number(), "N");
  checked_flag(
      app, "--time-limit", options.time_limit_s,
      "Seconds after which a probe is ended (default: 120 in quick suites, 600 in gemm, else 300)",
      seconds(), "SECONDS");
  // Of Google Benchmark's flags those that make sense for a whole run: its document goes to --out.
  for (const std::string flag :
       {"filter", "repetitions", "min_time", "min_warmup_time", "format", "color", "context",
        "time_unit", "counters_tabular", "enable_random_interleaving"})
    app.add_option_function<std::vector<std::string>>(
           "--benchmark_" + flag,
           [&options, flag](const std::vector<std::string>& values) {
             for (const std::string& value : values)
               options.benchmark_flags.push_back("--benchmark_" + flag +
                                                 (value.empty() ? "" : "=" + value));
           })
        ->expected(0, 1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("VALUE")
        ->group("Google Benchmark's flags, for every probe");
  app.footer(
      "Examples:\n"
      "  fathom run                                   everything, about three minutes\n"
      "  fathom run --suite quick --out results       under a minute, into ./results\n"
      "  fathom run --suite atlas                     the memory hierarchy, level by level\n"
      "  fathom run --probe bank_conflicts            one probe\n"
      "  fathom run --benchmark_filter=1GiB           only the cases with 1GiB in their name\n"
      "  fathom run --require-gpu                     for CI: no replay where there is no GPU\n");
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "Measure the GPU and write document and report",
          .add = with_arguments(add_run, run)};
}

}  // namespace fathom
