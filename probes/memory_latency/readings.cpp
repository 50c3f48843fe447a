#include "probes/memory_latency/readings.h"

#include <numeric>

#include "results/statistics.h"
#include "probes/two_groups.h"

namespace fathom::memory_latency {

double Readings::take(const Report& report, Timed timed, int loads) {
  clocks_ += static_cast<double>(report.clock_end - report.clock_begin);
  nanoseconds_ += static_cast<double>(report.ns_end - report.ns_begin);
  double mean = static_cast<double>(report.clocks) / loads;
  if (timed == Timed::each) {
    const std::vector<double> brackets(report.empty, report.empty + empty_brackets);
    const double empty = median(brackets);
    std::vector<double> latencies(report.times, report.times + loads);
    for (double& latency : latencies) latency -= empty;
    mean = std::accumulate(latencies.begin(), latencies.end(), 0.0) / loads;
    last_median_ = median(latencies);
    loads_.insert(loads_.end(), latencies.begin(), latencies.end());
  }
  means_.push_back(mean);
  return mean;
}

std::map<std::string, double> Readings::extras() const {
  std::map<std::string, double> result;
  if (means_.empty()) return result;
  if (clocks_ > 0 && nanoseconds_ > 0) {
    result["latency_ns"] = median(means_) * nanoseconds_ / clocks_;
    result["sm_clock_hz"] = 1e9 * clocks_ / nanoseconds_;
  }
  if (loads_.empty()) return result;
  for (const auto& [name, p] : {std::pair{"p5", 0.05}, {"p50", 0.5}, {"p95", 0.95}})
    result[name] = quantile(loads_, p);
  const TwoGroups groups = two_groups(loads_);
  result["low_group"] = groups.low;
  result["high_group"] = groups.high;
  result["high_group_share"] = groups.high_share;
  result["group_separation"] = groups.separation;
  return result;
}

}  // namespace fathom::memory_latency
