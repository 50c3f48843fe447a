#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/exit_codes.h"
#include "tools/compare_files.h"

namespace fathom {

struct Command;
struct Document;

/// All of `fathom`'s commands; those of program_commands only by name.
std::vector<Command> tool_commands();

struct RunArguments {
  std::string suite = "default";    ///< a name of tools/suites.h
  std::vector<std::string> probes;  ///< by name; empty: all
  std::filesystem::path out;        ///< empty: a folder named for GPU and time
  int device = 0;                   ///< CUDA ordinal
  bool no_counters = false;
  /// Probes by name that alone collect hardware counters; empty: all, unless `no_counters`.
  std::vector<std::string> counters_of;
  bool require_gpu = false;
  bool replay = false;                 ///< replay the recording even where there is a GPU
  bool no_report = false;              ///< the document only
  std::filesystem::path recordings{};  ///< of the card check; empty: those that came along
  bool wait = false;                   ///< for another Fathom that holds the GPU
  bool start_together = false;  ///< all probes at once, which then measure in turn; no counters
  std::uint64_t seed = 1;
  double time_limit_s = 0;                   ///< per probe; 0: the suite's own
  std::vector<std::string> benchmark_flags;  ///< "--benchmark_filter=1GiB", ...
};

/// Measures, or replays the recording where there is no GPU, and writes document and report.
/// Returns what the probes' failures amount to; throws Error where nothing could be done at all.
ExitCode run_command(const RunArguments& options);

/// Prints the probes with their questions and claims, and the suites.
ExitCode list_command();

struct DoctorArguments {
  std::optional<int> device;  ///< CUDA ordinal; empty: every GPU
  bool json = false;
};

/// Prints what is in order on this machine and what is not, with what to do about it. Returns the
/// code of the first failing check.
ExitCode doctor_command(const DoctorArguments& options);

struct ReportArguments {
  std::vector<std::filesystem::path> documents;  ///< one, or with `html` several
  std::filesystem::path out;                     ///< empty: "report" beside the (first) document
  bool conclude = false;               ///< with what the probes' programs conclude from it today
  bool html = false;                   ///< one HTML page of all documents, which `out` then names
  std::filesystem::path recordings{};  ///< of the card check; empty: those that came along
};

/// Makes the report of a result document, or the HTML page of several; they stay as they are.
ExitCode report_command(const ReportArguments& options);

/// Writes a report with the HTML page and the card check, and prints its summary and where each
/// page is. `name`: the document's file.
void publish_report(const Document& document, const std::filesystem::path& folder,
                    const std::string& name, const std::filesystem::path& recordings);

struct RecordingArguments {
  std::filesystem::path result;                     ///< document of a run
  std::filesystem::path recordings = "recordings";  ///< folder of all recordings
};

/// Puts a result into the folder of recordings: checked, without paths, and with its page. Throws
/// Error(bad_input) for what is no whole measurement, or there already.
ExitCode recording_add_command(const RecordingArguments& options);

/// Prints what differs between two results of any machines. Ok whatever differs; throws
/// Error(incomplete) where they share no figure. What another tool left is fathom-gate's to read.
ExitCode compare_command(const CompareArguments& options);

struct ExportArguments {
  std::string format;            ///< a name of tools/export/export.h
  std::filesystem::path result;  ///< result document
  std::filesystem::path out;     ///< file to write; empty: standard output
};

/// Writes what a result document holds for another program. Throws Error(incomplete) where it holds
/// nothing for that one.
ExitCode export_command(const ExportArguments& options);

}  // namespace fathom
