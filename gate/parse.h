#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/run_metrics.h"
#include "results/json_fields.h"

namespace fathom::gate {

/// The identity of another program's run: its name and its machine's. Where the file names no
/// `host`, it is taken to be of the one that reads it.
Identity identity_of_program(const std::string& program, const std::string& host = "");

/// The fact "statistic" of a program on a CPU: other load can only lengthen its samples, so the
/// fastest differs least from run to run (docs/gate/real-noise.md). A GPU's samples keep their
/// median: among the fastest are those before its clock fell.
inline constexpr const char* fastest_sample = "fastest sample";

/// When a file was written: the date of a run that says none.
std::string date_of_file(std::filesystem::file_time_type time);

/// Refuses more rows than any run has, since the gate holds those of all runs at once.
void require_few_rows(const Fields& document, std::string_view key);

/// Calls `use` for each row, once require_few_rows has passed.
template <typename Use>
void each_row(const Fields& document, std::string_view key, Use use) {
  require_few_rows(document, key);
  document.each(key, use);
}

/// The members of an object as texts, in its order; null is an empty text.
Identity identity_of(const Fields& fields);

inline constexpr const char* baseline_key = "fathom_baseline";
inline constexpr int baseline_version = 2;  ///< 1 has no seconds

/// Seconds in a unit of time; 0 for another unit.
double seconds_in(const std::string& unit);

/// One row of a file with rows of samples.
struct SampleRow {
  MetricValue metric;  ///< without its value; a time becomes one in seconds, whatever its unit
  std::vector<double> samples{};
  std::optional<double> median{};      ///< counts where no row of the name has a sample
  std::optional<Interval> interval{};  ///< of a metric that has one sample; others have theirs
};

/// The metrics of a file with rows of samples. Rows with one name count as one metric.
class PooledMetrics {
 public:
  /// Throws Error(document_malformed) for a sample that no measurement has, and for a name that was
  /// there with another unit or direction.
  void add(SampleRow row, const Place& place);
  /// Whether no metric has its median alone.
  bool have_samples() const;
  /// Each metric with its fastest sample, where that is the run's statistic, or with the median of
  /// its samples, in the order of the file.
  void move_into(RunMetrics& run);

 private:
  std::vector<SampleRow> rows_;
  std::map<std::string, std::size_t> by_name_;
};

// The kinds of document that the gate reads. Each fills `run`, whose origin is set, or `metrics`
// where it has rows of samples; names and figures are checked by the caller.

void parse_fathom(const Fields& document, RunMetrics& run);
void parse_baseline(const Fields& document, RunMetrics& run);
void parse_google_benchmark(const Fields& document, RunMetrics& run, PooledMetrics& metrics);
void parse_hyperfine(const Fields& document, RunMetrics& run, PooledMetrics& metrics);
void parse_pytest_benchmark(const Fields& document, RunMetrics& run, PooledMetrics& metrics);

/// With the sample files that lie beside the document, where there are any.
void parse_nvbench(const Fields& document, RunMetrics& run, PooledMetrics& metrics);

/// Whether a text begins as one that parse_csv reads.
bool is_csv(std::string_view text);
void parse_csv(std::string_view text, RunMetrics& run, PooledMetrics& metrics);

/// A folder of Criterion's. Throws as read_run_metrics.
void read_criterion(const std::filesystem::path& folder, RunMetrics& run, PooledMetrics& metrics);

}  // namespace fathom::gate
