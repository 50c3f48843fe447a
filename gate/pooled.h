#pragma once

#include <map>
#include <string>
#include <vector>

#include "gate/parse.h"

namespace fathom::gate {

/// The metrics of a file with rows of samples. Rows with one name count as one metric.
class PooledMetrics {
 public:
  /// Throws Error(document_malformed) for a sample that no measurement has, and for a name that was
  /// there with another unit or direction. Times are in seconds from here on, whatever their unit.
  /// `elapsed_s` is the wall time of them all, 0 where it is not known.
  void add(const std::string& name, std::string unit, Better better, std::vector<double> samples,
           double elapsed_s, const Place& place);
  /// A row without a usable sample, and why.
  void add_problem(const std::string& name, const std::string& problem);
  /// Each metric with the median of its samples, in the order of the file.
  void move_into(RunMetrics& run);

 private:
  struct Pool {
    MetricValue metric;
    std::vector<double> samples;
  };
  Pool& pool(const std::string& name, const std::string& unit, Better better);

  std::vector<Pool> pools_;
  std::map<std::string, std::size_t> by_name_;
};

}  // namespace fathom::gate
