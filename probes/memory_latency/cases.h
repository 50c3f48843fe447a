#pragma once

#include "harness/cases.h"
#include "probes/memory_latency/kernels.h"

namespace fathom::memory_latency {

/// Every level, both ways, and distributed shared memory.
std::vector<Case> latency_cases(const DeviceFacts& device);
/// What a miss brings along; constant and instruction caches.
std::vector<Case> fetch_cases(const DeviceFacts& device);
std::vector<Case> cache_cases(const DeviceFacts& device);  ///< size, line, sets of L1 and L2
std::vector<Case> far_cases(const DeviceFacts& device);    ///< memory behind a link, and TLBs

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

/// A launch that leaves a report, and what the report must say.
struct Reporting {
  Chase chase;  ///< for runs of code only how many loads the clocks are of
  LaunchChase launch{};
  std::optional<ChaseEnd> end{};  ///< nothing: where the chase's chain ends
  /// The figure is the mean of the timed loads; with `pairs`, the median of each pair's second.
  bool pairs = false;
  std::optional<std::uint64_t> executed{};
};
/// Their extras tell of all samples of the case.
std::function<Workload(Context&)> report_workload(std::function<Reporting(Context&)> prepare);

/// Puts the chain where the chase goes and sets its base.
using PrepareChase = std::function<LaunchChase(Context& context, Chase& chase)>;
std::function<Workload(Context&)> chase_workload(const Chase& chase, const PrepareChase& prepare);

/// Writes the chain to `memory`.
LaunchChase chase_through(Context& context, GlobalLoad load, int carveout_percent, Chase& chase,
                          void* memory);
/// Bytes of the one region, in device memory, that every chase but the TLB's runs in.
std::size_t region_bytes(const DeviceFacts& device);
PrepareChase in_region(GlobalLoad load, int carveout_percent = 0);

/// The case without counters.
Case make_case(const char* sweep, const char* level, const char* instruction, Timed timed,
               const Axes& more, std::function<Workload(Context&)> prepare,
               Suite suite = Suite::standard);
/// A level's own, of a working set inside it: a fact by itself, sampled more surely than a curve's
/// points.
Case headline(const char* level, const char* instruction, std::size_t bytes, const Chase& chase,
              const PrepareChase& prepare);
inline std::pair<std::string, AxisValue> working_set_axis(std::size_t bytes) {
  return {"working set (B)", static_cast<std::int64_t>(bytes)};
}
/// What a chase's loads must be by counter, and where they hit: in the L1, or past it. All ask
/// alike, so that they share a session of the profiler.
std::vector<CounterRequest> hits(GlobalLoad load, const Chase& chase);

}  // namespace fathom::memory_latency
