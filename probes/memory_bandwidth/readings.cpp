#include "probes/memory_bandwidth/readings.h"

#include <algorithm>
#include <stdexcept>

#include "results/statistics.h"

namespace fathom::memory_bandwidth {
namespace {

struct Window {
  std::int64_t start, end;
  double bytes = 0;
};

}  // namespace

Reading read_launch(std::span<const WarpReport> reports, double bytes_per_warp) {
  std::map<std::uint32_t, Window> windows;  // by SM: clocks of different SMs do not compare
  double clocks = 0, nanoseconds = 0;
  for (const WarpReport& r : reports) {
    if (r.end <= r.start || r.ns_end < r.ns_start)
      throw std::invalid_argument("a warp's clock stood still or ran backwards");
    clocks += static_cast<double>(r.end - r.start);
    nanoseconds += static_cast<double>(r.ns_end - r.ns_start);
    Window& w = windows.try_emplace(r.sm, Window{r.start, r.end}).first->second;
    w.start = std::min(w.start, r.start);
    w.end = std::max(w.end, r.end);
    w.bytes += bytes_per_warp;
  }
  std::vector<double> rates;
  for (const auto& [sm, w] : windows)
    rates.push_back(w.bytes / static_cast<double>(w.end - w.start));
  Reading reading;
  reading.bytes_per_clock = median(rates);
  reading.sm_clock_hz = nanoseconds > 0 ? 1e9 * clocks / nanoseconds : 0;
  reading.sms = static_cast<int>(windows.size());
  return reading;
}

double Readings::last_bandwidth(double max_hz) const {
  const Reading& last = readings_.at(readings_.size() - 1);
  const double known = last.sm_clock_hz > 0 ? last.sm_clock_hz : max_hz;
  const double hz = max_hz > 0 ? std::min(known, max_hz) : known;
  return last.bytes_per_clock * last.sms * hz;
}

std::map<std::string, double> Readings::extras() const {
  std::map<std::string, double> result;
  if (readings_.empty()) return result;
  std::vector<double> rates, clocks;
  for (const Reading& r : readings_) {
    rates.push_back(r.bytes_per_clock);
    clocks.push_back(r.sm_clock_hz);
  }
  result["bytes_per_clock"] = median(rates);
  constexpr std::size_t enough = 6;  // for 95 %, see results/statistics.h
  if (rates.size() >= enough) {
    const Interval interval = median_interval(rates, 0.95);
    result["bytes_per_clock_low"] = interval.low;
    result["bytes_per_clock_high"] = interval.high;
  }
  result["sm_clock_hz"] = median(clocks);
  result["sms"] = readings_.back().sms;
  return result;
}

}  // namespace fathom::memory_bandwidth
