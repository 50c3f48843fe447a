#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "results/document.h"
#include "results/error.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/programs.h"

namespace fathom {

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

/// What a run has measured: all that its probes left, and a summary of each that left nothing.
struct Measured {
  Document document;
  /// Of each that was selected; `incomplete` where what it left does not fit the others'.
  std::vector<ExitCode> causes;
};

/// Measures the probes one after the other. With `start_together` all are up at the same time, if
/// the GPU's memory has room for that. The log of each goes to logs/<probe>.log and its document to
/// parts/<probe>.json of `folder`. An interrupt ends the measuring, and what there is then is what
/// comes back.
Measured measure_probes(const std::vector<ProbeBinary>& probes, const RunArguments& options,
                        const std::filesystem::path& folder, const Fingerprint& fingerprint,
                        SignalInbox& inbox);

}  // namespace fathom
