#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/cases.h"
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

// The cases of the sweep, by what they ask. Each file's name says which.

/// Every level, both ways, and distributed shared memory.
std::vector<Case> latency_cases(const DeviceFacts& device);
std::vector<Case> fetch_cases(const DeviceFacts& device);     ///< what a miss brings along
std::vector<Case> constant_cases(const DeviceFacts& device);  ///< and instruction caches
std::vector<Case> cache_cases(const DeviceFacts& device);     ///< size, line, sets of L1 and L2
std::vector<Case> far_cases(const DeviceFacts& device);       ///< memory behind a link, and TLBs

// What they share.

/// Where a point belongs. Its axes, in this order: sweep, level, instruction, method, and `more`.
struct Point {
  std::string sweep;  ///< "latency", "size", "line", ...
  std::string level;  ///< "L1"
  std::string instruction;
  Timed timed = Timed::mean;
  Axes more;
  Suite suite = Suite::standard;
  bool headline = false;  ///< a fact by itself: sampled more surely than a curve's points
};

inline constexpr const char* method_mean = "unrolled chase";
inline constexpr const char* method_each = "single loads";

/// The case without `prepare` and counters.
Case make_case(const Point& point);
/// A level's own, of a working set inside it.
Case headline(const char* level, const char* instruction, Timed timed, std::size_t bytes);
inline std::pair<std::string, AxisValue> working_set_axis(std::size_t bytes) {
  return {"working set (B)", static_cast<std::int64_t>(bytes)};
}

/// Which chase a case makes.
struct GlobalChase {
  GlobalLoad load = GlobalLoad::cached;
  Chase chase;  ///< bases relative to the region
  int carveout_percent = 0;  ///< share of shared memory; 0 leaves the most L1
};

/// Bytes of the one region, in device memory, that every chase but the TLB's runs in.
std::size_t region_bytes(const DeviceFacts& device);
/// All elements of `bytes`, 8 bytes each: as many sectors as there are.
Chain every_word(std::size_t bytes);

/// The chain is written to `memory`, which `keep` owns where the pool does not.
Workload memory_workload(Context& context, const GlobalChase& chase, void* memory,
                         const std::shared_ptr<Readings>& readings,
                         std::shared_ptr<void> keep = nullptr);
/// The same in the region.
std::function<Workload(Context&)> global_workload(const GlobalChase& chase,
                                                  const DeviceFacts& device);
/// What a chase's loads must be by counter, and where they hit: of chases that may hit in the L1,
/// and of those past it. All ask alike, so that they share a session of the profiler.
std::vector<CounterRequest> hits_in_l1(const GlobalChase& chase);
std::vector<CounterRequest> hits_past_l1(const GlobalChase& chase);

/// Workload of a chase with a report, which `launch` gets. `keep` lives as long as the workload.
/// `base_reported`: the chain lies where the kernel says.
using LaunchChase = std::function<void(const Chase& chase, cudaStream_t stream)>;
Workload chase_workload(Context& context, Chase chase, bool base_reported,
                        const std::shared_ptr<Readings>& readings, LaunchChase launch,
                        std::shared_ptr<void> keep = nullptr);
/// The same for what needs nothing else.
std::function<Workload(Context&)> chase_workload(const Chase& chase, bool base_reported,
                                                 LaunchChase launch);
/// Puts the chain, whose base is 0, into constant memory; the words in device memory.
const std::uint32_t* fill_constants(Context& context, const Chain& chain);
Buffer report_buffer(Context& context);
Report read_report(const Buffer& report, cudaStream_t stream);

/// Sizes from `low` to `high`, `per_octave` to a doubling, rounded down to a multiple of `unit`.
std::set<std::size_t> geometric(std::size_t low, std::size_t high, int per_octave,
                                std::size_t unit);
/// Adds `low`, one `step` more, and so on up to `high`.
void add_steps(std::set<std::size_t>& sizes, std::size_t low, std::size_t high, std::size_t step);

}  // namespace fathom::memory_latency
