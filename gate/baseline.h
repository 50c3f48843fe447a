#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gate/run_metrics.h"
#include "results/error.h"

namespace fathom::gate {

/// Earlier runs in a folder: one file a run, in a subfolder for each identity. Nothing is
/// rewritten: a file appears whole, named by its date and content, or not at all. So jobs may add
/// at the same time, and a crash leaves at most a temporary file that nobody reads.
class BaselineFolder {
 public:
  explicit BaselineFolder(std::filesystem::path root) : root_(std::move(root)) {}

  /// Keeps the run and returns its file; the same run twice is there once. Throws Error(bad_input)
  /// for a replay and for a run without date or usable metric, and as write_file_atomically.
  std::filesystem::path add(const RunMetrics& run) const;

  /// The files of each subfolder, by name, which is by date. Empty where the folder is not there.
  /// Throws Error(bad_input) if it cannot be read.
  std::map<std::filesystem::path, std::vector<std::filesystem::path>> groups() const;

  /// The runs with this run's identity, oldest first; those that go while this reads are left out.
  /// Throws Error where one cannot be read: what is left would be another baseline.
  std::vector<RunMetrics> runs_like(const RunMetrics& run) const;

  /// The ratios to opponents, of the runs of all machines with which this run can be compared by
  /// them; oldest first.
  std::vector<RunMetrics> ratios_like(const RunMetrics& run) const;

  /// The newest run of each group that can be read, to say what is there instead.
  std::vector<RunMetrics> newest_of_each() const;

  /// What to do where it has no run.
  std::string why_empty() const;

  struct Pruning {
    std::size_t keep = 0;      ///< newest runs of each identity; 0: all
    std::string older_than{};  ///< ISO 8601: runs from before go; empty: none
    bool dry_run = false;      ///< only says what would go
  };
  struct Pruned {
    std::vector<std::filesystem::path> gone;
    std::vector<std::string> unreadable;  ///< why a file is no run, a sentence each
  };
  /// Removes runs, and files that hold no run of any version; only what `add` made.
  Pruned prune(const Pruning& pruning) const;

 private:
  std::filesystem::path folder_for(const RunMetrics& run) const;

  std::filesystem::path root_;
};

/// What files hold.
struct ReadRuns {
  std::vector<RunMetrics> runs;  ///< oldest first
  std::vector<std::pair<std::filesystem::path, Error>> unreadable;
};
/// A file that is gone by now is left out.
ReadRuns read_runs(const std::vector<std::filesystem::path>& files);

}  // namespace fathom::gate
