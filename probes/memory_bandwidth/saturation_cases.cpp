#include <algorithm>
#include <set>

#include "probes/memory_bandwidth/cases.h"

// What it takes to saturate the L2 and DRAM: by the number of SMs, and by the bytes in flight.

namespace fathom::memory_bandwidth {
namespace {

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

const char* name_of(Level level) { return level == Level::l2 ? "L2" : "DRAM"; }

Case saturation_case(const DeviceFacts& device, const char* sweep, Level level,
                     const GlobalPlan& plan, bool quick) {
  Case c = global_case(device, {.sweep = sweep, .level = name_of(level), .suite = quick_if(quick)},
                       plan);
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
          resident_blocks(plan.access, threads) < plan.blocks_per_sm)
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

std::vector<Case> saturation_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const Level level : {Level::l2, Level::dram}) {
    add_by_sms(result, device, level);
    add_by_flight(result, device, level);
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
