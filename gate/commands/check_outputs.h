#pragma once

#include <string>
#include <vector>

#include "gate/decision.h"
#include "results/output_file.h"

namespace fathom {

/// Where `fathom check` writes what it found, beside the terminal; empty: nowhere.
struct CheckOutputs {
  std::string markdown, junit, json;
  bool github = false;  ///< annotations, and the step's summary

  /// All that are asked for.
  std::vector<NamedFile> files() const;
};

/// The outputs of one check, once its inputs are known to be others.
class CheckReport {
 public:
  /// Opens what is no regular file. Throws Error(output_unwritable).
  explicit CheckReport(const CheckOutputs& outputs);

  /// Puts into each file that `check` has not ended: one that is killed leaves no earlier one's
  /// result, and what cannot be written is known before anything is measured. Throws
  /// Error(output_unwritable) and Error(output_full).
  void begin(gate::CheckResult check);

  /// Writes what was found, to the terminal as well, which hears as an error why a check ended
  /// without a decision. Throws as above.
  void publish(const gate::CheckResult& result);

 private:
  struct File {
    OutputFile file;
    std::string (*text)(const gate::CheckResult&);
  };
  /// For people: not among what goes to standard output as a file.
  void print(const std::string& text) const;

  std::vector<File> files_;
  bool github_;
  bool file_on_standard_output_ = false;
};

}  // namespace fathom
