#include <utility>

#include "probes/memory_bandwidth/cases.h"

// The headline of each level behind a load instruction: a working set well inside it, by operation,
// width and instruction, in the few shapes of grid that may be the best. The quick suite has those
// that were the best on an H200, since each that is counted takes longer to count than to time.

namespace fathom::memory_bandwidth {

/// In an L2 of two partitions the first fits into one, the second needs both.
static constexpr double in_one_partition = 1.0 / 3, in_both_partitions = 0.7;

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
      // Loads find nothing in the L2. Stores follow the last launch's, whose last lines are still
      // to be written back: as many as this launch leaves behind.
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
  /// The same in this grid, where it fits.
  const auto add_grid = [&](Level level, const Access& access, int blocks_per_sm,
                            bool quick = false, double l2_share = in_one_partition) {
    constexpr int threads = 1024;
    if (blocks_per_sm * threads <= device.threads_per_sm &&
        resident_blocks_of(global_kernel(access), threads) >= blocks_per_sm)
      add(level, {.access = access, .blocks_per_sm = blocks_per_sm}, quick, l2_share);
  };
  /// Tiles of 16 bytes a lane; loads by ld.global.cg.
  const auto add_tiles = [&](Level level, Operation operation, int loads, bool quick,
                             int warps = 8, double l2_share = in_one_partition) {
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

}  // namespace fathom::memory_bandwidth
