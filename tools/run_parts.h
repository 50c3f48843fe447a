#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "results/document.h"
#include "tools/commands.h"
#include "tools/probe_binaries.h"
#include "tools/probe_runner.h"
#include "tools/run_outcome.h"

namespace fathom {

/// What came of a run's probes, as they end one after the other: one document and one exit code.
class RunParts {
 public:
  RunParts(const RunArguments& options, const Fingerprint& fingerprint)
      : options_(options), fingerprint_(fingerprint) {}

  /// Says how a probe ended, and merges what it left.
  void add(const ProbeBinary& probe, ProbePart part);
  /// One that is not started, once the run is stopped.
  void skip(const ProbeBinary& probe);
  /// The user wants no more of them.
  void interrupt();
  /// By an interrupt, or by what ended a probe and would end the others, too.
  bool stopped() const { return stopper_.has_value(); }

  bool nothing_selected() const { return selected_ == 0; }
  bool all_merged() const { return all_merged_; }
  Document document() const;
  ExitCode exit_code() const;

 private:
  /// A part that does not fit (a driver update or another build in the middle of the run) costs its
  /// own results only; its document stays in the folder.
  void merge(const ProbeBinary& probe, const Document& part);
  /// For a run in which no probe left a document: the report still says on what it was tried.
  Document empty_document() const;

  const RunArguments& options_;
  const Fingerprint& fingerprint_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Document> merged_;
  std::vector<ProbeSummary> missing_;
  std::vector<ExitCode> causes_;
  std::optional<ProbeOutcome> stopper_;
  int selected_ = 0;
  bool all_merged_ = true;
};

}  // namespace fathom
