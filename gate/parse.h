#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/run_metrics.h"
#include "results/fields.h"

namespace fathom::gate {

/// Seconds in a unit of time; 0 for another unit.
double seconds_in(const std::string& unit);

/// A member as the text of a fact; empty where it is null or absent.
std::string fact_text(const Fields& fields, std::string_view key);

/// The fact "statistic" of a program on a CPU: other load can only lengthen its samples, so the
/// fastest differs least from run to run (docs/gate/real-noise.md). A GPU's samples keep their
/// median: among the fastest are those before its clock fell.
inline constexpr const char* fastest_sample = "fastest sample";

/// One row of a file with rows of samples. A time is in its unit, and becomes one in seconds.
struct SampleRow {
  MetricValue metric;  ///< without its value; with its interval where there is one sample
  std::vector<double> samples{};
};

/// A run as far as it is read.
struct Reading {
  RunMetrics run{};
  bool by_median = false;  ///< of programs on a CPU too
  /// Rows with one name are one metric.
  std::vector<SampleRow> rows{};
  std::map<std::string, std::size_t> by_name{};

  /// Throws Error(document_malformed) for a sample that no measurement has, for a name that was
  /// there with another unit or direction, and for more rows than any run has.
  void add(SampleRow row);
  /// What the value of a program on a CPU is.
  const char* statistic() const { return by_median ? "median" : fastest_sample; }
  /// The run with the metrics of its rows, each with the fastest sample, where that is the run's
  /// statistic, or with the median. Names are then such that any output can carry them, each there
  /// once, and figures are such as a measurement has.
  RunMetrics finished();
};

/// Throws Error(document_malformed) for more rows than any run has, since the gate holds those of
/// all runs at once.
void require_few(std::size_t rows, const Place& place);

// The kinds of other tools' files. `to.run` has its origin.

void parse_google_benchmark(const Fields& document, Reading& to);
void parse_hyperfine(const Fields& document, Reading& to);
void parse_pytest_benchmark(const Fields& document, Reading& to);

/// With the sample files that lie beside the document, where there are any.
void parse_nvbench(const Fields& document, Reading& to);

/// What anybody may write: the header of this text, then a line a metric.
inline constexpr std::string_view csv_header = "name,unit,better,sample";
void parse_csv(std::string_view text, Reading& to);

/// A folder of Criterion's. Returns its newest file. Throws as read_run_metrics.
std::filesystem::path read_criterion(const std::filesystem::path& folder, Reading& to);

}  // namespace fathom::gate
