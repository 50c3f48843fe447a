#include <algorithm>
#include <set>

#include "probes/memory_bandwidth/cases.h"

// Curves: bandwidth against working set, from what the L1s hold to what only DRAM holds; and what
// it takes to saturate the L2 and DRAM, by the number of SMs and by the bytes in flight.

namespace fathom::memory_bandwidth {
namespace {

/// Working sets from `low` on. `quick_per_octave` 0: none of them is in the quick suite.
void add_curve(std::vector<Case>& result, const DeviceFacts& device, const Access& access,
               std::uint64_t low, int per_octave, int quick_per_octave) {
  const std::uint64_t high = std::min<std::uint64_t>(16 * device.l2_bytes, largest_region(device));
  const std::uint64_t l1s = static_cast<std::uint64_t>(limits_of(device).unified_bytes) *
                            static_cast<std::uint64_t>(device.sms);
  const bool may_hit_l1 = access.operation == Operation::load && access.path == Path::cached;
  // Loads: a part for each SM that all its warps walk over, as long as that is not too much for a
  // launch; above, a part for each warp.
  const std::uint64_t by_block_up_to =
      access.operation != Operation::load ? 0
      : may_hit_l1                        ? 2 * l1s
                   : granule({Sharing::interleaved, device.sms, 32, access.tile()});
  std::set<std::uint64_t> seen;
  int index = -1;
  for (const std::uint64_t bytes : geometric(low, high, per_octave)) {
    ++index;
    const Level level = may_hit_l1 && bytes <= l1s ? Level::l1
                        : bytes <= device.l2_bytes ? Level::l2
                                                   : Level::dram;
    const GlobalPlan plan =
        fitted({.access = access,
                .sharing = bytes < by_block_up_to ? Sharing::by_block : Sharing::interleaved,
                .sms = device.sms,
                .bytes = bytes,
                .traffic = traffic_for(device, level, device.sms)});
    if (!seen.insert(plan.bytes).second) continue;
    const bool quick = quick_per_octave > 0 && index % (per_octave / quick_per_octave) == 0;
    Case& c = result.emplace_back(global_case(device, "footprint", "all", quick_if(quick), plan));
    // Between the octaves, which are in the quick suite: counting takes longer than timing.
    if (access.width == 16 && index % per_octave == per_octave / 2)
      count(c, plan, may_hit_l1 ? Level::l1 : Level::l2);
    c.extras["bytes_per_sm"] = static_cast<double>(plan.bytes) / device.sms;
  }
}

void add_footprints(std::vector<Case>& result, const DeviceFacts& device) {
  using enum Operation;
  const std::uint64_t two_tiles_each = 2 * static_cast<std::uint64_t>(device.sms) * Access{}.tile();
  const std::uint64_t smallest_l2 = std::min<std::uint64_t>(mib, device.l2_bytes / 8);
  // Where the L2 is small, fewer warps share it out.
  const std::uint64_t smallest_stored = std::min<std::uint64_t>(
      granule({Sharing::interleaved, device.sms, 32, Access{}.tile()}), device.l2_bytes / 4);
  const auto add = [&](const Access& access, std::uint64_t low, int per_octave, int quick) {
    add_curve(result, device, access, low, per_octave, quick);
  };
  add({load, Path::cached, 16, 4}, two_tiles_each, 3, 1);
  add({load, Path::l2_only, 16, 4}, smallest_l2, 4, 1);
  add({store, Path::l2_only, 16, 4}, smallest_stored, 3, 0);
  add({copy, Path::l2_only, 16, 4}, 2 * smallest_stored, 3, 0);
  for (const int width : {8, 4}) {
    add({load, Path::cached, width, 4}, two_tiles_each, 1, 0);
    add({load, Path::l2_only, width, 4}, smallest_l2, 1, 0);
  }
}

/// With a working set inside the L2, or one that no L2 has seen.
void add_saturation(std::vector<Case>& result, const DeviceFacts& device, const char* sweep,
                    Level level, GlobalPlan plan, double traffic, bool quick) {
  if (level == Level::l2) {
    plan.bytes = device.l2_bytes / 3;
    plan.traffic = traffic;
  } else {
    plan.cache = CacheState::cold;
    plan.bytes =
        static_cast<std::uint64_t>(std::min(traffic, static_cast<double>(largest_region(device))));
  }
  // Else a working set that the grid cannot share out would change the warps.
  if (!plan.chosen_sms && fitted(plan).warps != plan.warps) return;
  Case& c = result.emplace_back(global_case(device, sweep, name_of(level), quick_if(quick), plan));
  const std::optional<Bound> dram = dram_bound(device);
  if (level == Level::dram && dram && (!c.bound || dram->value < c.bound->value)) c.bound = dram;
}

void add_by_sms(std::vector<Case>& result, const DeviceFacts& device, Level level) {
  // One by one while they are few, then in steps of a thirtieth, and all.
  std::set<int> counts{device.sms};
  for (int n = 1; n <= std::min(8, device.sms); ++n) counts.insert(n);
  const int step = std::max(1, (device.sms + 29) / 30);
  for (int n = step; n < device.sms; n += step) counts.insert(n);
  int index = 0;
  for (const int sms : counts) {
    // A sample's time must not be lost in the launch; a single SM reads little in that time.
    double traffic = traffic_for(device, Level::l2, sms);
    if (level == Level::dram) traffic = std::min(traffic_for(device, level, device.sms), traffic);
    add_saturation(result, device, "SMs", level, {.sms = sms, .chosen_sms = true}, traffic,
                   index++ % 8 == 0 || sms == device.sms);
  }
}

void add_by_flight(std::vector<Case>& result, const DeviceFacts& device, Level level) {
  for (const int loads : {1, 2, 4, 8}) {
    for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
      GlobalPlan plan{.access = {.loads = loads}, .warps = std::min(warps, 32), .sms = device.sms};
      plan.blocks_per_sm = warps / plan.warps;
      const int threads = plan.warps * warp_lanes;
      if (plan.blocks_per_sm * threads > device.threads_per_sm ||
          resident_blocks_of(global_kernel(plan.access), threads) < plan.blocks_per_sm)
        continue;
      const double in_flight =
          static_cast<double>(warps) * device.sms * static_cast<double>(plan.access.tile());
      // Nearly unloaded, for how much a launch with few loads in flight gets done.
      const double latency = level == Level::l2 ? 250e-9 : 700e-9;
      constexpr double seconds = 400e-6;
      add_saturation(
          result, device, "in flight", level, plan,
          std::min(in_flight / latency * seconds, traffic_for(device, level, device.sms)),
          loads == 4);
    }
  }
}

}  // namespace

std::vector<Case> curve_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  add_footprints(result, device);
  for (const Level level : {Level::l2, Level::dram}) {
    add_by_sms(result, device, level);
    add_by_flight(result, device, level);
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
