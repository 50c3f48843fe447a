#include <algorithm>
#include <set>
#include <utility>

#include "probes/memory_bandwidth/cases.h"

// Through global memory. Levels: a working set well inside each, in the few shapes of grid that may
// be the best; the quick suite has those that were the best on an H200, since each that is counted
// takes longer to count than to time. Curves: bandwidth against working set, and what it takes to
// saturate the L2 and DRAM, by SMs and by bytes in flight.

namespace fathom::memory_bandwidth {
namespace {

/// In an L2 of two partitions the first fits into one, the second needs both.
constexpr double in_one_partition = 1.0 / 3, in_both_partitions = 0.7;

/// Where a working set is served from, for how much a launch should move.
enum class Level { l1, l2, dram };
const char* name_of(Level level) {
  return level == Level::l1 ? "L1" : level == Level::l2 ? "L2" : "DRAM";
}
/// Bytes that keep `sms` SMs busy for some hundred microseconds.
double traffic_for(const DeviceFacts& device, Level level, int sms) {
  constexpr double seconds = 400e-6, usual_clock = 1.5e9, usual_dram = 0.5e12;
  constexpr double usual_l2_bytes = 38;  // of an SM and clock, when all of them ask
  const double clocks = sms * (device.sm_clock_max_hz > 0 ? device.sm_clock_max_hz : usual_clock);
  const double path = clocks * limits_of(device).l1_bytes_per_clock;
  const auto dram = dram_bound(device);
  return seconds * (level == Level::l1   ? path
                    : level == Level::l2 ? clocks * usual_l2_bytes
                                         : std::min(dram ? dram->value : usual_dram, path / 2));
}

/// Adds what the counters must say of a launch whose data is, or may be, in the L1; in the L2, or
/// behind it; all of it in DRAM, each byte once.
void count(Case& c, const GlobalPlan& plan, Level level) {
  constexpr double sector = 32;
  const bool loads = plan.access.operation != Operation::store;
  const bool stores = plan.access.operation != Operation::load;
  const double one_way = c.extras.at("bytes_moved") / (loads && stores ? 2 : 1);
  if (loads) {
    c.counters.push_back({"global_load_sectors", one_way / sector, 0, "bytes loaded / 32"});
    // Exact on an H200 wherever a sector is asked for by one warp at a time; where several warps or
    // SMs ask for it at once, less is read than loaded.
    if (level != Level::l1 && plan.sharing == Sharing::interleaved)
      c.counters.push_back({"l2_read_sectors", one_way / sector, 0.001, "bytes loaded / 32"});
    else
      c.counters.push_back({"l2_read_sectors"});
  }
  if (stores)
    for (const char* role : {"global_store_sectors", "l2_write_sectors"})
      c.counters.push_back(
          {role, one_way / sector, 0.005, "bytes stored / 32, the reports left out"});
  c.counters.insert(c.counters.end(), {{"l1_hit_rate"}, {"l2_hit_rate"}});
  if (level != Level::dram) c.counters.push_back({"dram_read_bytes"});
  if (level == Level::dram && loads)
    c.counters.push_back({"dram_read_bytes", one_way, 0.02, "every byte loaded once"});
  if (level == Level::dram && stores)
    c.counters.push_back({"dram_write_bytes", one_way, 0.05,
                          "every byte stored once; the L2 may keep the last of them back"});
}

/// Working sets from `low` on. `quick_per_octave` 0: none of them is in the quick suite.
void add_curve(std::vector<Case>& result, const DeviceFacts& device, const Access& access,
               std::uint64_t low, int per_octave, int quick_per_octave) {
  const std::uint64_t high = std::min<std::uint64_t>(16 * device.l2_bytes, largest_region(device));
  const std::uint64_t l1s = static_cast<std::uint64_t>(limits_of(device).unified_bytes) *
                            static_cast<std::uint64_t>(device.sms);
  const bool may_hit_l1 = access.operation == Operation::load && access.path == Path::cached;
  // Loads: a part for each SM, as long as that is not too much for a launch, else for each warp.
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
  }
}

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

}  // namespace

std::vector<Case> level_cases(const DeviceFacts& device) {
  using enum Operation;
  using enum Path;
  /// Blocks on an SM, and accesses of each thread in flight.
  constexpr std::pair<int, int> grids[] = {{1, 4}, {2, 4}, {1, 8}};
  std::vector<Case> all;

  /// The plan with a working set well inside the level; of the L2 with that share of it.
  const auto add = [&](Level level, GlobalPlan plan, bool quick,
                       double l2_share = in_one_partition) {
    const models::SmLimits& sm = limits_of(device);
    plan.sms = device.sms;
    if (level == Level::l1) {
      plan.sharing = Sharing::by_block;
      // A quarter of what there is: with two blocks on an SM, half of it.
      plan.bytes = static_cast<std::size_t>(sm.unified_bytes) / 4 *
                   static_cast<std::size_t>(device.sms) *
                   static_cast<std::size_t>(plan.blocks_per_sm);
      plan.in_kernel = true;
    } else if (level == Level::l2) {
      plan.bytes = static_cast<std::uint64_t>(l2_share * static_cast<double>(device.l2_bytes));
    } else {
      plan.bytes = largest_region(device);
      // Stores follow the last launch's, which left as many lines to be written back.
      if (plan.access.operation == load) plan.cache = CacheState::cold;
    }
    if (level != Level::dram) plan.traffic = traffic_for(device, level, device.sms);
    Case& c = all.emplace_back(global_case(device, "level", name_of(level), quick_if(quick), plan));
    if (level == Level::dram)
      c.bound = dram_bound(device);
    else
      c.extras["sm_bound_bytes_per_clock"] = sm.l1_bytes_per_clock;
    if (level == Level::l2) c.extras["share_of_l2"] = l2_share;
    count(c, plan, level);
  };
  const auto add_grid = [&](Level level, const Access& access, int blocks_per_sm,
                            bool quick = false, double l2_share = in_one_partition) {
    constexpr int threads = 1024;
    if (blocks_per_sm * threads <= device.threads_per_sm &&
        resident_blocks_of(global_kernel(access), threads) >= blocks_per_sm)
      add(level, {.access = access, .blocks_per_sm = blocks_per_sm}, quick, l2_share);
  };
  /// Tiles of 16 bytes a lane; loads by ld.global.cg.
  const auto add_tiles = [&](Level level, Operation operation, int loads, bool quick, int warps = 8,
                             double l2_share = in_one_partition) {
    const Access access{operation, l2_only, 16, loads};
    add(level,
        {.access = access,
         .blocks_per_sm = resident_blocks_of(tile_kernel(access), warps * warp_lanes),
         .warps = warps,
         .tiles = true},
        quick, l2_share);
  };

  for (const auto& [blocks, loads] : grids)
    add_grid(Level::l1, {load, cached, 16, loads}, blocks, loads == 8);
  for (const int width : {8, 4}) add_grid(Level::l1, {load, cached, width, 4}, 1);

  for (const Path path : {l2_only, no_allocate}) {
    for (const double share : {in_one_partition, in_both_partitions})
      for (const auto& [blocks, loads] : grids)
        add_grid(Level::l2, {load, path, 16, loads}, blocks, false, share);
    add(Level::l2, {.access = {load, path, 16, 4}, .sharing = Sharing::by_all}, false);
  }
  for (const int width : {8, 4}) add_grid(Level::l2, {load, l2_only, width, 4}, 1);
  for (const Operation operation : {store, copy}) {
    for (const int width : {16, 8, 4}) {
      const Access access{operation, l2_only, width, 4};
      add_grid(Level::l2, access, 1, width == 16);
      // Half of a copy's working set is too little to share out among twice the warps.
      if (width == 16 && operation == store) add_grid(Level::l2, access, 2);
    }
  }
  for (const int warps : {8, 16})
    for (const int loads : {2, 4}) add_tiles(Level::l2, load, loads, warps == 8, warps);
  add_tiles(Level::l2, load, 4, false, 8, in_both_partitions);
  for (const Operation operation : {store, copy})
    for (const int loads : {1, 2}) add_tiles(Level::l2, operation, loads, false);

  for (const auto& [blocks, loads] : grids)
    add_grid(Level::dram, {load, l2_only, 16, loads}, blocks);
  for (const Path path : {no_allocate, cached}) add_grid(Level::dram, {load, path, 16, 4}, 2);
  for (const Operation operation : {load, store, copy}) {
    for (const int width : {16, 8, 4}) {
      const Access access{operation, l2_only, width, 4};
      if (operation == load && width == 16) continue;
      add_grid(Level::dram, access, 1);
      if (width == 16) add_grid(Level::dram, access, 2);
    }
  }
  for (const int loads : {1, 2, 4}) add_tiles(Level::dram, load, loads, loads == 4);
  for (const Operation operation : {store, copy})
    for (const int loads : {1, 2}) add_tiles(Level::dram, operation, loads, loads == 1);
  return all;
}

std::vector<Case> curve_cases(const DeviceFacts& device) {
  using enum Operation;
  std::vector<Case> result;
  const std::uint64_t two_tiles_each = 2 * static_cast<std::uint64_t>(device.sms) * Access{}.tile();
  const std::uint64_t smallest_l2 = std::min<std::uint64_t>(mib, device.l2_bytes / 8);
  // Where the L2 is small, fewer warps share it out.
  const std::uint64_t smallest_stored = std::min<std::uint64_t>(
      granule({Sharing::interleaved, device.sms, 32, Access{}.tile()}), device.l2_bytes / 4);
  add_curve(result, device, {load, Path::cached, 16, 4}, two_tiles_each, 3, 1);
  add_curve(result, device, {load, Path::l2_only, 16, 4}, smallest_l2, 4, 1);
  add_curve(result, device, {store, Path::l2_only, 16, 4}, smallest_stored, 3, 0);
  add_curve(result, device, {copy, Path::l2_only, 16, 4}, 2 * smallest_stored, 3, 0);
  for (const int width : {8, 4}) {
    add_curve(result, device, {load, Path::cached, width, 4}, two_tiles_each, 1, 0);
    add_curve(result, device, {load, Path::l2_only, width, 4}, smallest_l2, 1, 0);
  }
  // One by one while they are few, then in steps of a thirtieth, and all.
  std::set<int> counts{device.sms};
  for (int n = 1; n <= std::min(8, device.sms); ++n) counts.insert(n);
  const int step = std::max(1, (device.sms + 29) / 30);
  for (int n = step; n < device.sms; n += step) counts.insert(n);
  for (const Level level : {Level::l2, Level::dram}) {
    const double all_sms = traffic_for(device, level, device.sms);
    int index = 0;
    for (const int sms : counts) {
      // A sample's time must not be lost in the launch; a single SM reads little in that time.
      const double traffic = std::min(all_sms, traffic_for(device, Level::l2, sms));
      add_saturation(result, device, "SMs", level, {.sms = sms, .chosen_sms = true}, traffic,
                     index++ % 8 == 0 || sms == device.sms);
    }
    for (const int loads : {1, 2, 4, 8}) {
      for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
        GlobalPlan plan{
            .access = {.loads = loads}, .warps = std::min(warps, 32), .sms = device.sms};
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
        add_saturation(result, device, "in flight", level, plan,
                       std::min(in_flight / latency * seconds, all_sms), loads == 4);
      }
    }
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
