#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/card_check.h"
#include "reports/compare.h"
#include "results/document.h"
#include "tools/command_line.h"

namespace fathom {

/// All of `fathom`'s commands; those of program_commands only by name. Their help says what they do
/// and how they end. Of those that are here alone, `doctor` ends with the code of the first failing
/// check.
std::vector<Command> tool_commands();

/// Its code is what the probes' failures amount to; an Error where nothing could be done at all.
Command run_command();
Command report_command();
/// Of Fathom's own documents: what another tool left is fathom-gate's to read.
Command compare_command();
/// Error(incomplete) where a document holds nothing for the other program.
Command export_command();
Command recording_command();

struct RunArguments {
  std::string suite = "default";    ///< a name of tools/programs.h
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

/// Writes a report with the HTML page and the card check, and prints its summary and where each
/// page is. `name`: the document's file.
void publish_report(const Document& document, const std::filesystem::path& folder,
                    const std::string& name, const std::filesystem::path& recordings);

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

/// The flag --recordings of what checks a card.
void add_recordings_flag(CLI::App& app, std::filesystem::path& folder);

/// Whether the card is normal, by the recordings below that folder, or where it is empty by those
/// that came with this program. A recording that cannot be read is left out. Nothing of a replay:
/// no card was measured.
std::optional<reports::CardCheck> card_of(const Document& document,
                                          const std::filesystem::path& recordings);

/// The recorded H200 run to show for `suite`, in the folder that FATHOM_RECORDING names, else in
/// the one that came with this program: result.json, or for another suite than the default one that
/// of a folder called like the suite or like what stands before the dash in its name:
/// atlas/result.json for atlas-quick. Where it has none, the default suite's is shown. Throws
/// Error(setup_incomplete) if there is none.
std::filesystem::path replayed_recording(const std::string& suite);

struct RecordingArguments {
  std::filesystem::path result, recordings = "recordings";
};

/// Puts the result of a run into the folder of recordings: checked, without paths, and with its
/// page. Throws Error(bad_input) for what is no whole measurement, or there already.
ExitCode add_recording(const RecordingArguments& options);

}  // namespace fathom
