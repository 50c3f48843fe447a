#include <algorithm>
#include <set>

#include "probes/memory_bandwidth/cases.h"

// Curves: bandwidth against working set, from what the L1s hold to what only DRAM holds; and what
// it takes to saturate the L2 and DRAM, by the number of SMs and by the bytes in flight.

namespace fathom::memory_bandwidth {
namespace {

struct Curve {
  Access access;
  std::uint64_t low;
  int per_octave;
  int quick_per_octave;  ///< 0: none of it is in the quick suite
};

bool may_hit_l1(const Access& access) {
  return access.operation == Operation::load && access.path == Path::cached;
}

Level level_of(const DeviceFacts& device, const Access& access, std::uint64_t bytes) {
  if (may_hit_l1(access) && bytes <= static_cast<std::size_t>(limits_of(device).unified_bytes) *
                                         static_cast<std::size_t>(device.sms))
    return Level::l1;
  return bytes <= device.l2_bytes ? Level::l2 : Level::dram;
}

/// A part for each SM that all its warps walk over, as long as that is not too much for a launch;
/// above, a part for each warp.
Sharing sharing_of(const DeviceFacts& device, const Access& access, std::uint64_t bytes) {
  if (access.operation != Operation::load) return Sharing::interleaved;
  const std::uint64_t shared_out = granule({Sharing::interleaved, device.sms, 32, access.tile()});
  const std::uint64_t by_block_up_to =
      access.path == Path::cached ? 2 * static_cast<std::size_t>(limits_of(device).unified_bytes) *
                                        static_cast<std::size_t>(device.sms)
                                  : shared_out;
  return bytes < by_block_up_to ? Sharing::by_block : Sharing::interleaved;
}

void add_curve(std::vector<Case>& result, const DeviceFacts& device, const Curve& curve) {
  const std::uint64_t high = std::min<std::uint64_t>(16 * device.l2_bytes, largest_region(device));
  std::set<std::uint64_t> seen;
  int index = -1;
  for (const std::uint64_t bytes : geometric(curve.low, high, curve.per_octave)) {
    ++index;
    const GlobalPlan plan{
        .access = curve.access,
        .sharing = sharing_of(device, curve.access, bytes),
        .sms = device.sms,
        .bytes = bytes,
        .traffic = traffic_for(device, level_of(device, curve.access, bytes), device.sms)};
    const GlobalShape shape = shape_of(plan);
    if (!seen.insert(shape.working_set).second) continue;
    // Between the octaves, which are in the quick suite: counting takes longer than timing.
    const bool counted =
        curve.access.width == 16 && index % curve.per_octave == curve.per_octave / 2;
    const bool quick =
        curve.quick_per_octave > 0 && index % (curve.per_octave / curve.quick_per_octave) == 0;
    Case c = global_case(device, "footprint", "all", quick_if(quick), plan);
    if (counted) count(c, plan, may_hit_l1(curve.access) ? Level::l1 : Level::l2);
    c.extras["bytes_per_sm"] = static_cast<double>(shape.working_set) / device.sms;
    result.push_back(std::move(c));
  }
}

void add_footprints(std::vector<Case>& result, const DeviceFacts& device) {
  const std::uint64_t one_tile_each = static_cast<std::uint64_t>(device.sms) * Access{}.tile();
  const std::uint64_t smallest_l2 = std::min<std::uint64_t>(mib, device.l2_bytes / 8);
  const std::uint64_t smallest_shared =
      granule({Sharing::interleaved, device.sms, 32, Access{}.tile()});
  // Where the L2 is small, fewer warps share it out.
  const std::uint64_t smallest_stored = std::min(smallest_shared, device.l2_bytes / 4);
  add_curve(result, device, {{Operation::load, Path::cached, 16, 4}, 2 * one_tile_each, 3, 1});
  add_curve(result, device, {{Operation::load, Path::l2_only, 16, 4}, smallest_l2, 4, 1});
  add_curve(result, device, {{Operation::store, Path::l2_only, 16, 4}, smallest_stored, 3, 0});
  add_curve(result, device, {{Operation::copy, Path::l2_only, 16, 4}, 2 * smallest_stored, 3, 0});
  for (const int width : {8, 4}) {
    add_curve(result, device, {{Operation::load, Path::cached, width, 4}, 2 * one_tile_each, 1, 0});
    add_curve(result, device, {{Operation::load, Path::l2_only, width, 4}, smallest_l2, 1, 0});
  }
}

/// Nearly unloaded, for how much a launch with few loads in flight gets done.
constexpr double usual_latency_s[] = {0, 250e-9, 700e-9};

/// A working set inside the L2, or one that no L2 has seen.
void set_level(GlobalPlan& plan, const DeviceFacts& device, Level level, double traffic) {
  if (level == Level::l2) {
    plan.bytes = device.l2_bytes / 3;
    plan.traffic = traffic;
  } else {
    plan.cache = CacheState::cold;
    plan.bytes =
        static_cast<std::uint64_t>(std::min(traffic, static_cast<double>(largest_region(device))));
  }
}

Case saturation_case(const DeviceFacts& device, const char* sweep, Level level,
                     const GlobalPlan& plan, bool quick) {
  Case c = global_case(device, sweep, name_of(level), quick_if(quick), plan);
  if (level == Level::dram) {
    const std::optional<Bound> dram = dram_bound(device);
    if (dram && (!c.bound || dram->value < c.bound->value)) c.bound = dram;
  }
  return c;
}

/// One by one while they are few, then in steps of a thirtieth, and all.
std::vector<int> sm_counts(int sms) {
  std::set<int> counts;
  for (int n = 1; n <= std::min(8, sms); ++n) counts.insert(n);
  const int step = std::max(1, (sms + 29) / 30);
  for (int n = step; n < sms; n += step) counts.insert(n);
  counts.insert(sms);
  return {counts.begin(), counts.end()};
}

void add_by_sms(std::vector<Case>& result, const DeviceFacts& device, Level level) {
  const std::vector<int> counts = sm_counts(device.sms);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    GlobalPlan plan;
    plan.sms = counts[i];
    plan.chosen_sms = true;
    // A sample's time must not be lost in the launch; a single SM reads little in that time.
    double traffic = traffic_for(device, level, plan.sms);
    if (level == Level::dram) {
      const double all = traffic_for(device, level, device.sms);
      traffic = std::min(all, traffic_for(device, Level::l2, plan.sms));
    }
    set_level(plan, device, level, traffic);
    const bool quick = i % 8 == 0 || i + 1 == counts.size();
    result.push_back(saturation_case(device, "SMs", level, plan, quick));
  }
}

void add_by_flight(std::vector<Case>& result, const DeviceFacts& device, Level level) {
  for (const int loads : {1, 2, 4, 8}) {
    for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
      GlobalPlan plan;
      plan.access.loads = loads;
      plan.sms = device.sms;
      plan.warps = std::min(warps, 32);
      plan.blocks_per_sm = warps / plan.warps;
      const int threads = plan.warps * warp_lanes;
      if (plan.blocks_per_sm * threads > device.threads_per_sm ||
          resident_blocks_of(global_kernel(plan.access), threads) < plan.blocks_per_sm)
        continue;
      const double in_flight =
          static_cast<double>(warps) * device.sms * static_cast<double>(plan.access.tile());
      constexpr double seconds = 400e-6;
      const double reached = in_flight / usual_latency_s[static_cast<int>(level)] * seconds;
      set_level(plan, device, level, std::min(reached, traffic_for(device, level, device.sms)));
      // Else a working set that the grid cannot share out would change the warps.
      if (shape_of(plan).walk_shape.warps != plan.warps) continue;
      result.push_back(saturation_case(device, "in flight", level, plan, loads == 4));
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
