#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "probes/memory_bandwidth/kernels.h"

namespace fathom::memory_bandwidth {

/// What one launch says of itself by the clocks that its warps read.
struct Reading {
  /// Of one SM: bytes of its warps from the first one's start to the last one's end; the median
  /// over the SMs.
  double bytes_per_clock = 0;
  double sm_clock_hz = 0;  ///< clock64 against the global timer, over all warps
  int sms = 0;             ///< that ran any warp
};

/// Every warp of the launch moved `bytes_per_warp`. Throws std::invalid_argument for reports whose
/// clocks stood still or ran backwards.
Reading read_launch(std::span<const WarpReport> reports, double bytes_per_warp);

/// What the launches of one case have told.
class Readings {
 public:
  void take(const Reading& reading) { readings_.push_back(reading); }
  /// Of the last launch: bytes per clock x SMs x SM clock, which is taken to be at most `max_hz`,
  /// since the global timer of some chips ticks in microseconds. In bytes per second.
  double last_bandwidth(double max_hz) const;
  /// Medians over the launches: "bytes_per_clock", "sm_clock_hz", "sms"; of six launches or more
  /// the ends of the former's 95 % interval as well, "bytes_per_clock_low" and "_high".
  std::map<std::string, double> extras() const;

 private:
  std::vector<Reading> readings_;
};

}  // namespace fathom::memory_bandwidth
