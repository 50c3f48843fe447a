#pragma once

#include "harness/cases.h"
#include "models/occupancy.h"
#include "probes/memory_bandwidth/kernels.h"

namespace fathom::memory_bandwidth {

std::vector<Case> on_chip_cases(const DeviceFacts& device);  ///< registers and shared memory
std::vector<Case> level_cases(const DeviceFacts& device);    ///< L1, L2 and DRAM
/// Bandwidth by working set, by SMs and by bytes in flight.
std::vector<Case> curve_cases(const DeviceFacts& device);

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

/// The case without `prepare`, bound and counters. Sweeps: "level", which is sampled more surely,
/// "footprint", "SMs", "in flight".
Case make_case(const std::string& sweep, const char* level, Operation operation,
               const std::string& instruction, int width, const Axes& more, Suite suite);

/// Bytes that all of `sms` SMs can move in a clock at most, as a bound in bytes per second; nothing
/// where the clock is unknown.
std::optional<Bound> sm_bound(const DeviceFacts& device, int sms, double bytes_per_clock,
                              const std::string& what);
std::optional<Bound> dram_bound(const DeviceFacts& device);
/// A chip that the tables do not know gets the newest chip's.
inline const models::SmLimits& limits_of(const DeviceFacts& device) {
  for (const models::SmLimits& known : models::all_sm_limits())
    if (known.major == device.major && known.minor == device.minor) return known;
  return models::all_sm_limits().back();
}

/// One pattern through global memory.
struct GlobalPlan {
  Access access{};
  Sharing sharing = Sharing::interleaved;
  int blocks_per_sm = 1;    ///< that run at once
  int warps = 32;           ///< of a block
  int sms = 0;              ///< that take part
  std::uint64_t bytes = 0;  ///< of the working set; a copy's source and destination together
  double traffic = 0;       ///< wanted bytes moved by a launch
  CacheState cache = CacheState::hot;
  bool in_kernel = false;  ///< timed by the SMs' clocks instead of events
  /// The blocks run on the first `sms` SMs by `place_of_sm` instead of wherever they are put.
  bool chosen_sms = false;
  /// Many more blocks than run at once, each over after one tile for each of its warps (TileRun):
  /// the SMs share the work as each gets done, where else the blocks have equal shares and the
  /// slowest SM tells the time.
  bool tiles = false;
  int passes = 1;

  WalkShape walk() const {  ///< of tiles: of one block's
    return {sharing, tiles ? 1 : sms * blocks_per_sm, warps, access.tile()};
  }
  int copies() const { return access.operation == Operation::copy ? 2 : 1; }
  std::uint64_t region() const { return bytes / copies(); }  ///< that the walk goes over
  double bytes_of_pass() const;  ///< moved; a copy's bytes count as read and as written
};
/// The plan with so many passes as move the bytes wanted, and with its working set rounded down to
/// what its grid can share out. Has fewer warps where the granule would be larger than that set.
GlobalPlan fitted(GlobalPlan plan);

Case global_case(const DeviceFacts& device, const char* sweep, const char* level, Suite suite,
                 const GlobalPlan& plan);

/// Shared memory of which an SM has no room for two blocks' worth.
int one_block_shared_bytes(const DeviceFacts& device);

/// A workload, and what the warps of its launch report.
struct Reporting {
  Workload workload;
  Buffer reports{};  ///< WarpReports; without data: none
  double bytes_per_warp = 0;
  bool in_kernel = true;  ///< whether it is timed by them
};
/// Their extras tell of all launches of the case.
std::function<Workload(Context&)> report_workload(std::function<Reporting(Context&)> prepare);

/// The largest that any case's source or destination may be.
std::uint64_t largest_region(const DeviceFacts& device);

}  // namespace fathom::memory_bandwidth
