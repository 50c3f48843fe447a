#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/document.h"

namespace fathom::gate {

/// What the GPU was doing while a metric was taken; SI units.
struct GpuState {
  std::optional<double> sm_clock_hz, memory_clock_hz, power_w;
  std::vector<std::string> throttle_reasons;  ///< sorted; only those that hold clocks down
  friend bool operator==(const GpuState&, const GpuState&) = default;
};

/// One metric of one run.
struct MetricValue {
  std::string name;  ///< of the entry; with " vs <opponent>" for the ratio to an opponent
  std::string unit;
  Better better = Better::lower;
  double value = 0;
  double elapsed_s = 0;  ///< wall time that it took to measure; 0: not known
  GpuState state{};
  std::string problem{};               ///< why the value must not be used; empty: it may
  std::optional<Interval> interval{};  ///< of a median in another tool's file
  friend bool operator==(const MetricValue&, const MetricValue&) = default;
};

/// Named facts that must agree for two runs to be compared.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// What the gate takes from a result, which is a run of Fathom, a file of another benchmark tool
/// (gate/parse.h), or an earlier run kept as a baseline.
struct RunMetrics {
  std::string origin{};  ///< the file
  bool fathom = false;   ///< else another tool's
  bool replay = false;
  std::string date{};    ///< ISO 8601
  std::string commit{};  ///< of Fathom; empty where there is none
  std::string suite{};   ///< of Fathom; empty where there is none
  Identity identity{};
  std::vector<MetricValue> metrics{};  ///< names are unique
  double elapsed_s = 0;                ///< wall time of the whole run; 0: not known
  // What says that something else was going on; of a result document of Fathom alone.
  std::optional<int> other_processes{};  ///< that used the GPU, the most at one time
  /// The median of the entries' repeatability, relative; nothing for fewer than five.
  std::optional<double> unsteadiness{};
};

/// A fact of which two runs have another value each, in words.
struct Difference {
  std::string fact, before, after;
  std::string words() const { return fact + ": " + before + " and " + after; }
};

/// The facts of the identity, and the suite, that are not the same in both; that one is a run of
/// Fathom and the other is not is the only one then.
std::vector<Difference> differences_of(const RunMetrics& base, const RunMetrics& head);

/// Why these runs cannot be compared, each sentence once: a replay, identities that differ.
std::vector<std::string> refusals_of(std::span<const RunMetrics> base,
                                     std::span<const RunMetrics> head);

/// Whether a metric is the ratio to an opponent of the same run.
bool is_ratio(const std::string& unit, const std::string& name);

/// The run's ratios to opponents of the same run alone. They survive a change of machine: of the
/// identity only the GPU's model stays and the toolkit, with which the opponents come.
RunMetrics ratios_of(RunMetrics run);

/// Sixteen hexadecimal digits that stand for program, suite and identity: runs with the same are
/// comparable.
std::string identity_key(const RunMetrics& run);

/// Sixteen hexadecimal digits of texts: tells files apart, protects nothing.
std::string hash_of(const std::vector<std::string>& texts);

/// The value of one fact; empty where there is none.
std::string fact_of(const RunMetrics& run, const std::string& name);

/// Reads a result document, a baseline, a file of Google Benchmark, nvbench, pytest-benchmark or
/// hyperfine, or a CSV "name,unit,better,sample,...", told apart by content. Of rows with one name
/// it takes the median, or the fastest of three tools (fastest_sample, parse.h). An nvbench
/// document's sample files are looked for beside `origin`. Hostile text costs bounded time, memory
/// and stack. Throws Error(document_malformed) or Error(document_version).
RunMetrics parse_run_metrics(std::string_view text, const std::string& origin);

/// A larger file is refused unread. The suite `default` leaves 5 MB and 2,000 metrics 20 MB; at
/// worst, a value in every second byte, reading one costs some 18 times as much memory.
inline constexpr std::size_t largest_result = std::size_t{64} << 20;

/// The same of a file, or of the folder that Criterion leaves. A run of another tool without a date
/// has the file's. Throws Error(bad_input) if it cannot be read, and Error(document_malformed) if
/// it is larger than `largest_result`. `by_median`: takes the median whatever the program.
RunMetrics read_run_metrics(const std::filesystem::path& path, bool by_median = false);

/// A run as the text of a baseline: one line a metric, a hundred bytes or so.
std::string baseline_text(const RunMetrics& run);

}  // namespace fathom::gate
