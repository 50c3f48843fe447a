#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/document.h"
#include "results/error.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/output_folder.h"
#include "tools/programs.h"

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

/// What a probe's end means for its results.
struct ProbeOutcome {
  ProbeStatus status = ProbeStatus::complete;
  std::string reason;             ///< why it is not complete; one sentence or clause
  ExitCode cause = ExitCode::ok;  ///< what the run's exit code has to say of it
};

/// Judges from how the process ended, the document that it left (nothing: none), and the last line
/// of its log.
ProbeOutcome judge_probe(const ProcessEnd& end, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit);

/// A run's own: an interrupt above all, then a failed check; else the only cause there is, or
/// `incomplete` for several different ones.
ExitCode combined_exit_code(const std::vector<ExitCode>& causes);

/// How many probes of a run may be up at the same time on this GPU. 1: none beside another, since
/// only one process may use the GPU or its memory is unknown or small.
std::size_t most_held_together(const Fingerprint& gpu);

/// What a run has measured.
struct Measured {
  std::optional<Document> document;   ///< of all probes that left one
  std::vector<ProbeSummary> missing;  ///< of the others
  std::vector<ExitCode> causes;       ///< of each that was selected, and of parts that did not fit
  bool all_merged = true;             ///< else a part stays in its own document
};

/// Measures the probes one after the other. The log of each goes to logs/<probe>.log and its
/// document to parts/<probe>.json of `folder`. An interrupt ends the measuring, and what there is
/// then is what comes back.
Measured measure_probes(const std::vector<ProbeBinary>& probes, const RunArguments& options,
                        const OutputFolder& folder, const Fingerprint& fingerprint,
                        SignalInbox& inbox);

}  // namespace fathom
