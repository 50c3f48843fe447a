#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/document.h"
#include "results/error.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {

/// One line that a probe writes to the descriptor of --progress-fd: "done total elapsed_s name".
struct ProbeProgress {
  int done = 0, total = 0;
  std::string name;  ///< of what is being measured
};

/// Nothing if the line is not of that form.
std::optional<ProbeProgress> parse_progress(std::string_view line);

/// "45 s", "2 min 5 s", "1 h 2 min"
std::string spoken_duration(double seconds);

/// A line on the terminal that says what is being measured and how long the run may still take.
/// Writes nothing where standard error is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::size_t probes) : probes_(probes) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void start_probe(std::size_t index, const std::string& name);
  void update(const ProbeProgress& progress);
  void clear() { draw(""); }

 private:
  void draw(const std::string& text);

  std::size_t probes_, index_ = 0;
  std::string probe_;  ///< "[1/6] copy_bandwidth: "
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool drawn_ = false;
};

/// What a probe's end means for its results.
struct ProbeOutcome {
  ProbeStatus status = ProbeStatus::complete;
  std::string reason;             ///< why it is not complete; one sentence or clause
  ExitCode cause = ExitCode::ok;  ///< what the run's exit code has to say of it
};

/// Judges from how the process ended, the document that it left (nothing: none), and the last line
/// of its log.
ProbeOutcome judge_probe(const SupervisedEnd& end, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit);

/// Whether nothing can be measured after a probe that ended for this cause.
bool stops_the_run(ExitCode cause);

/// A run's own: an interrupt above all, then a failed check; else the only cause there is, or
/// `incomplete` for several different ones.
ExitCode combined_exit_code(const std::vector<ExitCode>& causes);

/// One probe's part of a run.
struct ProbePart {
  ProbeOutcome outcome;
  std::optional<Document> document{};  ///< what it left, its summary saying what `outcome` says
  bool nothing_selected = false;       ///< --benchmark_filter fits none of its cases
  double elapsed_s = 0;
};

/// One probe's program, running: measuring from its start on, or held back until it is released.
/// The log goes to logs/<probe>.log and its document to parts/<probe>.json of `folder`. Its
/// destructor ends it.
class ProbeProcess {
 public:
  /// Throws Error where it cannot be started or its log cannot be written.
  ProbeProcess(const ProbeBinary& probe, const RunArguments& options, const OutputFolder& folder,
               HeldRun::Start start);

  const HeldRun& run() const { return *run_; }
  /// How it ended, once it has.
  std::optional<ProcessEnd> try_end() { return run_->child()->try_end(); }

  /// Lets one that is held begin, and waits until it has measured, or for its end, time limit or an
  /// interrupt. True where it has measured and only has to end: one that is not held never says so.
  bool measure(std::size_t held_beside, SignalInbox& inbox,
               const std::function<void(const ProbeProgress&)>& progress);
  /// Waits for its end.
  ProbePart finish(SignalInbox& inbox);

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path document_, log_;
  std::chrono::seconds limit_;
  bool has_filter_;
  FileDescriptor progress_;
  std::optional<HeldRun> run_;
  Clock::time_point start_, done_;    ///< of measuring
  std::optional<SupervisedEnd> end_;  ///< where it is known before `finish`
};

/// How many probes of a run may be up at the same time on this GPU. 1: none beside another, since
/// only one process may use the GPU or its memory is unknown or small.
std::size_t most_held_together(const Fingerprint& gpu);

/// Probes that are up at the same time and measure in turn: CUDA takes each of them most of a
/// second to start. Null: it could not be started or did not become ready, and is started again in
/// its turn; or it was released.
using HeldProbes = std::vector<std::unique_ptr<ProbeProcess>>;

/// Starts them all and waits until each is ready, has ended, or has taken its time limit to be
/// ready, or an interrupt has come. None where there is no room for all of them at once.
HeldProbes start_held(std::span<const ProbeBinary> probes, const RunArguments& options,
                      const OutputFolder& folder, SignalInbox& inbox);

}  // namespace fathom
