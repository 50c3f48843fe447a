#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "results/document.h"
#include "results/exit_codes.h"
#include "tools/child_process.h"

namespace fathom {

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

}  // namespace fathom
