#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/document.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"
#include "tools/progress.h"
#include "tools/run_outcome.h"

namespace fathom {

/// One probe's part of a run.
struct ProbePart {
  ProbeOutcome outcome;
  std::optional<Document> document;  ///< what it left, its summary saying what `outcome` says
  bool nothing_selected = false;     ///< --benchmark_filter fits none of its cases
  double elapsed_s = 0;
};

/// Runs one probe's program to its end, its time limit or an interrupt; the log goes to
/// logs/<probe>.log and its document to parts/<probe>.json of `folder`.
ProbePart run_probe(const ProbeBinary& probe, const RunArguments& options,
                    const OutputFolder& folder, SignalInbox& inbox,
                    const std::function<void(const ProbeProgress&)>& progress);

/// A summary for a probe that left no document.
ProbeSummary missing_summary(const ProbeBinary& probe, const ProbeOutcome& outcome);

}  // namespace fathom
