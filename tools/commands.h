#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/command_line.h"

namespace fathom {

struct Document;

/// All of `fathom`'s commands; those of program_commands only by name.
std::vector<Command> tool_commands();

/// Measures, or replays the recording where there is no GPU, and writes document and report. Its
/// code is what the probes' failures amount to; an Error where nothing could be done at all.
Command run_command();
/// Prints the probes with their questions and claims, and the suites.
Command list_command();
/// Prints what is in order on this machine and what is not, with what to do about it. Its code is
/// that of the first failing check.
Command doctor_command();
/// Makes the report of a result document, or the HTML page of several; they stay as they are.
Command report_command();
/// Prints what differs between two results of any machines. Ok whatever differs; Error(incomplete)
/// where they share no figure. What another tool left is fathom-gate's to read.
Command compare_command();
/// Writes what a result document holds for another program; Error(incomplete) where it holds
/// nothing for that one.
Command export_command();
/// `recording add`: puts a result into the folder of recordings.
Command recording_command();

struct RunArguments {
  std::string suite = "default";    ///< a name of tools/probe_binaries.h
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

}  // namespace fathom
