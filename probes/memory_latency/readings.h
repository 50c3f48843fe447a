#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/memory_latency/kernels.h"

namespace fathom::memory_latency {

/// What the samples of one case have told besides the metric.
class Readings {
 public:
  /// Mean latency of a chase's loads in cycles, from its report; `each`: less the median of its
  /// empty brackets.
  double take(const Report& report, Timed timed, int loads);
  /// Median over the loads of the last report taken; of `each`.
  double last_median() const { return last_median_; }
  /// "latency_ns" by the SM clock that the kernels themselves saw, "sm_clock_hz"; of `each` the
  /// distribution over the loads of all samples.
  std::map<std::string, double> extras() const;

 private:
  double clocks_ = 0, nanoseconds_ = 0;  ///< of all kernels, from their begin to their end
  double last_median_ = 0;
  std::vector<double> means_, loads_;
};

}  // namespace fathom::memory_latency
