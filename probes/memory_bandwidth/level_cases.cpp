#include <span>
#include <utility>

#include "probes/memory_bandwidth/cases.h"

// The headline of each level behind a load instruction: a working set well inside it, by operation,
// width and instruction, in the few shapes of grid that may be the best. The quick suite has those
// that were the best on an H200, since each that is counted takes longer to count than to time.

namespace fathom::memory_bandwidth {
namespace {

/// Warps of an SM and accesses of each thread in flight.
struct Grid {
  int blocks_per_sm = 1;
  int loads = 4;
};
constexpr Grid grids[] = {{1, 4}, {2, 4}, {1, 8}};
using Grids = std::span<const Grid>;
constexpr Grids all_grids = grids, usual = all_grids.first(1),
                one_or_two_blocks = all_grids.first(2), two_blocks = all_grids.subspan(1, 1);

GlobalPlan plan_of(const DeviceFacts& device, const Access& access, int blocks_per_sm) {
  return {.access = access, .blocks_per_sm = blocks_per_sm, .sms = device.sms};
}

/// Of those grids that fit.
std::vector<GlobalPlan> plans(const DeviceFacts& device, Operation operation, Path path, int width,
                              Grids wanted) {
  constexpr int threads = 1024;
  std::vector<GlobalPlan> result;
  for (const Grid& grid : wanted) {
    const Access access{operation, path, width, grid.loads};
    if (grid.blocks_per_sm * threads <= device.threads_per_sm &&
        resident_blocks_of(global_kernel(access), threads) >= grid.blocks_per_sm)
      result.push_back(plan_of(device, access, grid.blocks_per_sm));
  }
  return result;
}

/// In an L2 of two partitions the first fits into one, the second needs both.
constexpr double in_one_partition = 1.0 / 3, in_both_partitions = 0.7;

/// The plan with a working set well inside the level; of the L2 with that share of it.
Case level_case(const DeviceFacts& device, Level level, GlobalPlan plan, Suite suite,
                double l2_share = in_one_partition) {
  const models::SmLimits& sm = limits_of(device);
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
    // Loads find nothing in the L2. Stores follow the last launch's, whose last lines are still to
    // be written back: as many as this launch leaves behind.
    if (plan.access.operation == Operation::load) plan.cache = CacheState::cold;
  }
  if (level != Level::dram) plan.traffic = traffic_for(device, level, device.sms);
  Case c = global_case(device, "level", name_of(level), suite, plan);
  if (level == Level::dram)
    c.bound = dram_bound(device);
  else
    c.extras["sm_bound_bytes_per_clock"] = sm.l1_bytes_per_clock;
  if (level == Level::l2) c.extras["share_of_l2"] = l2_share;
  count(c, plan, level);
  return c;
}

void add_l1(std::vector<Case>& result, const DeviceFacts& device) {
  for (const int width : {16, 8, 4})
    for (const GlobalPlan& plan :
         plans(device, Operation::load, Path::cached, width, width == 16 ? all_grids : usual))
      result.push_back(
          level_case(device, Level::l1, plan, quick_if(width == 16 && plan.access.loads == 8)));
}

/// Tiles of 16 bytes a lane; loads by ld.global.cg.
GlobalPlan tile_plan(const DeviceFacts& device, Operation operation, int loads, int warps = 8) {
  GlobalPlan plan = plan_of(device, {operation, Path::l2_only, 16, loads}, 1);
  plan.warps = warps;
  plan.tiles = true;
  plan.blocks_per_sm = resident_blocks_of(tile_kernel(plan.access), warps * warp_lanes);
  return plan;
}

void add_l2(std::vector<Case>& result, const DeviceFacts& device) {
  for (const Path path : {Path::l2_only, Path::no_allocate}) {
    for (const double share : {in_one_partition, in_both_partitions})
      for (const GlobalPlan& plan : plans(device, Operation::load, path, 16, all_grids))
        result.push_back(level_case(device, Level::l2, plan, Suite::standard, share));
    GlobalPlan plan = plans(device, Operation::load, path, 16, usual).front();
    plan.sharing = Sharing::by_all;
    result.push_back(level_case(device, Level::l2, plan, Suite::standard));
  }
  for (const int width : {8, 4})
    for (const GlobalPlan& plan : plans(device, Operation::load, Path::l2_only, width, usual))
      result.push_back(level_case(device, Level::l2, plan, Suite::standard));
  for (const Operation operation : {Operation::store, Operation::copy}) {
    for (const int width : {16, 8, 4}) {
      // Half of a copy's working set is too little to share out among twice the warps.
      const bool both = width == 16 && operation == Operation::store;
      for (const GlobalPlan& plan :
           plans(device, operation, Path::l2_only, width, both ? one_or_two_blocks : usual)) {
        const bool quick = width == 16 && plan.blocks_per_sm == 1;
        result.push_back(level_case(device, Level::l2, plan, quick_if(quick)));
      }
    }
  }
}

void add_l2_tiles(std::vector<Case>& result, const DeviceFacts& device) {
  const auto add = [&](Operation operation, int loads, int warps, Suite suite,
                       double share = in_one_partition) {
    const GlobalPlan plan = tile_plan(device, operation, loads, warps);
    result.push_back(level_case(device, Level::l2, plan, suite, share));
  };
  for (const int warps : {8, 16})
    for (const int loads : {2, 4}) add(Operation::load, loads, warps, quick_if(warps == 8));
  add(Operation::load, 4, 8, Suite::standard, in_both_partitions);
  for (const Operation operation : {Operation::store, Operation::copy})
    for (const int loads : {1, 2}) add(operation, loads, 8, Suite::standard);
}

void add_dram_tiles(std::vector<Case>& result, const DeviceFacts& device) {
  for (const Operation operation : {Operation::load, Operation::store, Operation::copy}) {
    for (const int loads : {1, 2, 4}) {
      if (operation != Operation::load && loads == 4) continue;
      const bool quick = loads == (operation == Operation::load ? 4 : 1);
      result.push_back(
          level_case(device, Level::dram, tile_plan(device, operation, loads), quick_if(quick)));
    }
  }
}

void add_dram(std::vector<Case>& result, const DeviceFacts& device) {
  const auto add = [&](Operation operation, Path path, int width, Grids wanted) {
    for (const GlobalPlan& plan : plans(device, operation, path, width, wanted))
      result.push_back(level_case(device, Level::dram, plan, Suite::standard));
  };
  for (const Path path : {Path::l2_only, Path::no_allocate, Path::cached})
    add(Operation::load, path, 16, path == Path::l2_only ? all_grids : two_blocks);
  for (const Operation operation : {Operation::load, Operation::store, Operation::copy})
    for (const int width : {16, 8, 4})
      if (operation != Operation::load || width != 16)
        add(operation, Path::l2_only, width, width == 16 ? one_or_two_blocks : usual);
}

}  // namespace

std::vector<Case> level_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  add_l1(result, device);
  add_l2(result, device);
  add_l2_tiles(result, device);
  add_dram(result, device);
  add_dram_tiles(result, device);
  return result;
}

}  // namespace fathom::memory_bandwidth
