#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/files.h"
#include "studies/gate/trials/plan.h"

namespace fathom::gate {

// A journal of decisions: JSON, one line each, the first line says how they were made. A line is on
// disk before the next decision begins, so that a run that is cut loses nothing.

/// What the gate said of a metric.
struct JudgedMetric {
  Planted planted;              ///< with no fault's name where nothing was planted
  std::string outcome;          ///< as in the gate's JSON; empty: nothing was decided
  std::optional<double> worse;  ///< relative, by the Hodges-Lehmann estimate
};

/// How the other load went.
struct LoadRecord {
  LoadPlan plan;
  double seconds = 0;                            ///< that its process ran
  std::size_t base_rounds = 0, head_rounds = 0;  ///< beside which it ran at some time
};

struct TrialRecord {
  std::size_t index = 0;
  std::uint64_t seed = 0;
  std::string date;  ///< ISO 8601, of the end
  std::string gpu;   ///< empty where the result does not say
  int exit_code = 0;
  std::string headline;
  double seconds = 0;  ///< of the whole decision
  std::size_t metrics = 0, rounds = 0, confirmation_rounds = 0;
  std::vector<JudgedMetric> planted;
  std::vector<JudgedMetric> flagged;  ///< regressions of metrics in which nothing was planted
  std::optional<LoadRecord> load;
  /// "metric: why" of what was inconclusive; not in journals of before it was noted.
  std::vector<std::string> undecided;
};

/// How the decisions of a journal were made; two that differ in it cannot go on from one another.
struct JournalHeader {
  TrialKind kind = TrialKind::unchanged;
  std::uint64_t seed = 1;
  std::string suite;  ///< of builds of Fathom; else empty
  std::string how;    ///< all other options that change a decision, as text
  /// The `fathom` that decided, "fathom 0.1.0 (1a2b3c4d)"; empty in journals of before it was
  /// noted.
  std::string tool;
  friend auto operator<=>(const JournalHeader&, const JournalHeader&) = default;
};

struct JournalText {
  JournalHeader header;
  std::vector<TrialRecord> records;
};

/// Throws Error(bad_input) with file and line for what is no journal. A last line without an end
/// was cut off while it was written, and is left out.
JournalText read_journal(const std::filesystem::path& path);

class Journal {
 public:
  /// A new one, or, to resume, one that may be there already, made in the same way. Throws
  /// Error(bad_input) for one that is there and not resumed, or was made otherwise.
  Journal(std::filesystem::path path, const JournalHeader& header, bool resume);
  const std::vector<TrialRecord>& records() const { return records_; }
  /// Whether the decision with this number is there.
  bool has(std::size_t index) const;
  /// On disk when it returns. Throws Error(output_unwritable).
  void add(const TrialRecord& record);

 private:
  std::filesystem::path path_;
  std::vector<TrialRecord> records_;
  FileDescriptor file_;
};

}  // namespace fathom::gate
