#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/card_check.h"
#include "reports/compare.h"
#include "results/document.h"
#include "tools/child_process.h"
#include "tools/command_line.h"
#include "tools/programs.h"

namespace fathom {

// `fathom`'s own commands. Their help says what they do and how they end.

/// Its code is what the probes' failures amount to; an Error where nothing could be done at all.
Command run_command();
Command report_command();
/// Of Fathom's own documents: what another tool left is fathom-gate's to read.
Command compare_command();
/// Error(incomplete) where a document holds nothing for the other program.
Command export_command();
Command recording_command();

struct RunArguments {
  std::string suite = "default";
  std::vector<std::string> probes;  ///< by name; empty: all
  std::filesystem::path out;        ///< empty: a folder named for GPU and time
  int device = 0;                   ///< CUDA ordinal
  bool no_counters = false;
  std::vector<std::string> counters_of;  ///< empty: of all, unless `no_counters`
  bool require_gpu = false;
  bool replay = false;          ///< replay the recording even where there is a GPU
  bool no_report = false;       ///< the document only
  bool wait = false;            ///< for another Fathom that holds the GPU
  bool start_together = false;  ///< all probes at once, which then measure in turn; no counters
  std::filesystem::path recordings{};  ///< of the card check; empty: those that came along
  std::uint64_t seed = 1;
  double time_limit_s = 0;                   ///< per probe; 0: the suite's own
  std::vector<std::string> benchmark_flags;  ///< "--benchmark_filter=1GiB", ...
};

/// What a probe's end means for its results.
struct ProbeOutcome {
  ProbeStatus status = ProbeStatus::complete;
  std::string reason;             ///< why it is not complete; one sentence or clause
  ExitCode cause = ExitCode::ok;  ///< the code that the run would end with for it
};

/// Judges from how the process ended, the document that it left (nothing: none), and the last line
/// of its log.
ProbeOutcome judge_probe(const ProcessEnd& end, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit);

/// A run's exit code: an interrupt above all, then a failed check. Else the only cause, or
/// `incomplete` if there are several different ones.
ExitCode combined_exit_code(const std::vector<ExitCode>& causes);

/// What a run has measured: all that its probes left, and a summary of each that left nothing.
struct Measured {
  Document document;
  /// One for each selected probe; `incomplete` where its part does not fit the others'.
  std::vector<ExitCode> causes;
};

/// Measures the probes one after the other. With `start_together` all are up at the same time, if
/// the GPU's memory has room for that. The log of each goes to logs/<probe>.log and its document to
/// parts/<probe>.json of `folder`. An interrupt ends the measuring; what was measured before it is
/// returned.
Measured measure_probes(const std::vector<ProbeBinary>& probes, const RunArguments& options,
                        const std::filesystem::path& folder, const Fingerprint& fingerprint,
                        SignalInbox& inbox);

struct CompareArguments {
  std::filesystem::path a, b;            ///< results
  std::filesystem::path markdown, json;  ///< files to write; empty: none
};

/// The same command where it is fathom-gate that reads the results.
Command compare_command(ExitCode (*compare)(const CompareArguments&));

/// Prints the comparison and writes it to the files; their paths are checked before `compare` is
/// called. Ok whatever differs.
ExitCode tell_comparison(const CompareArguments& arguments,
                         const std::function<reports::Comparison()>& compare);

/// A result document as text for other programs, in a format that docs/export.md describes:
/// machine (tools/export/machine.schema.json), csv, openmetrics (also Prometheus' older text
/// format, which node exporter reads), bmf, accelsim or inductor. Throws Error(incomplete) where
/// the document has nothing for it.
std::string exported(const std::string& format, const Document& document);

/// Parameters of gpgpusim.config and trace.config.
std::string accelsim_export(const Document& document);
/// A Python module that adds the GPU to PyTorch Inductor's table of devices.
std::string inductor_export(const Document& document);
/// Between double quotes and on one line, as Python and OpenMetrics read a text.
std::string quoted(const std::string& text);

/// The flag --recordings of what checks a card.
void add_recordings_flag(CLI::App& app, std::filesystem::path& folder);

/// The card check by the recordings in that folder; empty: by those that came along.
std::optional<reports::CardCheck> card_of(const Document& document,
                                          const std::filesystem::path& recordings);

/// The recorded H200 run to show for `suite`, in the folder that FATHOM_RECORDING names, else in
/// the one that came with this program: for atlas-quick the first of atlas-quick/result.json,
/// atlas/result.json and result.json. Throws Error(setup_incomplete) if there is none.
std::filesystem::path replayed_recording(const std::string& suite);

struct RecordingArguments {
  std::filesystem::path result, recordings = "recordings";
};

/// Puts the result of a run into the folder of recordings: checked, without paths, and with its
/// page. Throws Error(bad_input) for what is no whole measurement, or there already.
ExitCode add_recording(const RecordingArguments& options);

}  // namespace fathom
