#include <algorithm>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/cases.h"

// The headline of each level behind a load instruction: a working set well inside it, by operation,
// width and instruction, in the few shapes of grid that may be the best.

namespace fathom::memory_bandwidth {
namespace {

/// Warps of an SM and accesses of each thread in flight.
struct Grid {
  int blocks_per_sm = 1;
  int loads = 4;
};
constexpr Grid usual_grid{1, 4};
constexpr Grid grids[] = {{1, 4}, {2, 4}, {1, 8}};

bool fits(const DeviceFacts& device, const Access& access, const Grid& grid) {
  constexpr int threads = 1024;
  return grid.blocks_per_sm * threads <= device.threads_per_sm &&
         resident_blocks(access, threads) >= grid.blocks_per_sm;
}

GlobalPlan plan_of(const DeviceFacts& device, Operation operation, Path path, int width,
                   const Grid& grid) {
  GlobalPlan plan;
  plan.access = {operation, path, width, grid.loads};
  plan.blocks_per_sm = grid.blocks_per_sm;
  plan.sms = device.sms;
  return plan;
}

void add_l1(std::vector<Case>& result, const DeviceFacts& device) {
  for (const int width : {16, 8, 4}) {
    for (const Grid& grid : grids) {
      if (width != 16 && (grid.loads != usual_grid.loads || grid.blocks_per_sm != 1)) continue;
      GlobalPlan plan = plan_of(device, Operation::load, Path::cached, width, grid);
      if (!fits(device, plan.access, grid)) continue;
      plan.sharing = Sharing::by_block;
      // A quarter of what there is: with two blocks on an SM, half of it.
      plan.bytes = unified_bytes(device) / 4 * static_cast<std::size_t>(device.sms) *
                   static_cast<std::size_t>(grid.blocks_per_sm);
      plan.traffic = traffic_for(device, Level::l1, device.sms);
      plan.in_kernel = true;
      Case c = global_case(
          device,
          {.sweep = "level", .level = "L1", .suite = width == 16 ? Suite::quick : Suite::standard},
          plan);
      c.extras["sm_bound_bytes_per_clock"] = l1_bytes_per_clock(device);
      const GlobalShape shape = shape_of(plan);
      count(c, shape, false);
      result.push_back(std::move(c));
    }
  }
}

/// For the chip that others' figures are of (GH100 with 132 SMs): conclude then states them.
void mark_published(Case& c, const DeviceFacts& device) {
  if (device.major == 9 && device.minor == 0 && device.sms == 132) {
    c.extras["published_of_gh100"] = 1;
  }
}

Case l2_case(const DeviceFacts& device, const GlobalPlan& wanted, double l2_share, Suite suite) {
  GlobalPlan plan = wanted;
  plan.bytes = static_cast<std::uint64_t>(l2_share * static_cast<double>(device.l2_bytes));
  plan.traffic = traffic_for(device, Level::l2, device.sms);
  Case c = global_case(device, {.sweep = "level", .level = "L2", .suite = suite}, plan);
  const bool copies = plan.access.operation == Operation::copy;
  c.extras["sm_bound_bytes_per_clock"] = copies ? 2 * l2_port_bytes : l2_port_bytes;
  c.extras["share_of_l2"] = l2_share;
  mark_published(c, device);
  count(c, shape_of(plan), false);
  return c;
}

/// Of an L2 in two partitions the first fits into one, the second needs both.
constexpr double in_one_partition = 1.0 / 3, in_both_partitions = 0.7;

void add_l2(std::vector<Case>& result, const DeviceFacts& device) {
  for (const Path path : {Path::l2_only, Path::no_allocate}) {
    for (const double share : {in_one_partition, in_both_partitions}) {
      for (const Grid& grid : grids) {
        const GlobalPlan plan = plan_of(device, Operation::load, path, 16, grid);
        if (!fits(device, plan.access, grid)) continue;
        const bool quick = share == in_one_partition;
        result.push_back(l2_case(device, plan, share, quick ? Suite::quick : Suite::standard));
      }
    }
    GlobalPlan plan = plan_of(device, Operation::load, path, 16, usual_grid);
    plan.sharing = Sharing::by_all;
    result.push_back(l2_case(device, plan, in_one_partition, Suite::standard));
  }
  for (const int width : {8, 4}) {
    result.push_back(l2_case(device,
                             plan_of(device, Operation::load, Path::l2_only, width, usual_grid),
                             in_one_partition, Suite::standard));
  }
  for (const Operation operation : {Operation::store, Operation::copy}) {
    for (const int width : {16, 8, 4}) {
      for (const Grid& grid : {Grid{1, 4}, Grid{2, 4}}) {
        // Half of the working set is too little to share out among twice the warps.
        const bool once = width != 16 || operation == Operation::copy;
        if (once && grid.blocks_per_sm != 1) continue;
        const GlobalPlan plan = plan_of(device, operation, Path::l2_only, width, grid);
        if (!fits(device, plan.access, grid)) continue;
        result.push_back(
            l2_case(device, plan, in_one_partition, width == 16 ? Suite::quick : Suite::standard));
      }
    }
  }
}

Case dram_case(const DeviceFacts& device, const GlobalPlan& wanted, Suite suite) {
  GlobalPlan plan = wanted;
  plan.bytes = largest_region(device);
  // Loads find nothing in the L2. Stores follow the last launch's, whose last lines are still to be
  // written back: as many as this launch leaves behind.
  plan.cache = plan.access.operation == Operation::load ? CacheState::cold : CacheState::hot;
  Case c = global_case(device, {.sweep = "level", .level = "DRAM", .suite = suite}, plan);
  c.bound = dram_bound(device);
  mark_published(c, device);
  count(c, shape_of(plan), true);
  return c;
}

void add_dram(std::vector<Case>& result, const DeviceFacts& device) {
  for (const Path path : {Path::l2_only, Path::no_allocate, Path::cached}) {
    for (const Grid& grid : grids) {
      const GlobalPlan plan = plan_of(device, Operation::load, path, 16, grid);
      if (!fits(device, plan.access, grid)) continue;
      if (path != Path::l2_only && grid.blocks_per_sm == 1) continue;
      result.push_back(
          dram_case(device, plan, path == Path::l2_only ? Suite::quick : Suite::standard));
    }
  }
  for (const Operation operation : {Operation::load, Operation::store, Operation::copy}) {
    for (const int width : {16, 8, 4}) {
      for (const Grid& grid : {Grid{1, 4}, Grid{2, 4}}) {
        if (operation == Operation::load && width == 16) continue;
        if (width != 16 && grid.blocks_per_sm != 1) continue;
        const GlobalPlan plan = plan_of(device, operation, Path::l2_only, width, grid);
        if (!fits(device, plan.access, grid)) continue;
        const bool quick = width == 16 && grid.blocks_per_sm == 1;
        result.push_back(dram_case(device, plan, quick ? Suite::quick : Suite::standard));
      }
    }
  }
}

}  // namespace

std::vector<Case> level_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  add_l1(result, device);
  add_l2(result, device);
  add_dram(result, device);
  return result;
}

}  // namespace fathom::memory_bandwidth
