#include <algorithm>
#include <set>

#include "probes/memory_bandwidth/cases.h"

// Bandwidth against working set: from what the L1s hold to what only DRAM holds.

namespace fathom::memory_bandwidth {
namespace {

struct Curve {
  Access access;
  std::uint64_t low;
  int per_octave;
  int quick_per_octave;  ///< 0: none of it is in the quick suite
};

Level level_of(const DeviceFacts& device, const Access& access, std::uint64_t bytes) {
  const bool may_hit_l1 = access.operation == Operation::load && access.path == Path::cached;
  if (may_hit_l1 && bytes <= unified_bytes(device) * static_cast<std::size_t>(device.sms))
    return Level::l1;
  return bytes <= device.l2_bytes ? Level::l2 : Level::dram;
}

/// A part for each SM that all its warps walk over, as long as that is not too much for a launch;
/// above, a part for each warp.
Sharing sharing_of(const DeviceFacts& device, const Access& access, std::uint64_t bytes) {
  if (access.operation != Operation::load) return Sharing::interleaved;
  const std::uint64_t shared_out = granule({Sharing::interleaved, device.sms, 32, access.tile()});
  const std::uint64_t by_block_up_to =
      access.path == Path::cached ? 2 * unified_bytes(device) * static_cast<std::size_t>(device.sms)
                                  : shared_out;
  return bytes < by_block_up_to ? Sharing::by_block : Sharing::interleaved;
}

void add_curve(std::vector<Case>& result, const DeviceFacts& device, const Curve& curve) {
  const std::uint64_t high = std::min<std::uint64_t>(16 * device.l2_bytes, largest_region(device));
  std::set<std::uint64_t> seen;
  int index = -1;
  for (const std::uint64_t bytes : geometric(curve.low, high, curve.per_octave)) {
    ++index;
    GlobalPlan plan;
    plan.access = curve.access;
    plan.sms = device.sms;
    plan.bytes = bytes;
    plan.sharing = sharing_of(device, curve.access, bytes);
    plan.traffic = traffic_for(device, level_of(device, curve.access, bytes), device.sms);
    const GlobalShape shape = shape_of(plan);
    if (!seen.insert(shape.working_set).second) continue;
    // Between the octaves, which are in the quick suite: counting takes longer than timing.
    const bool counted =
        curve.access.width == 16 && index % curve.per_octave == curve.per_octave / 2;
    const bool quick =
        curve.quick_per_octave > 0 && index % (curve.per_octave / curve.quick_per_octave) == 0;
    Case c =
        global_case(device, {.sweep = "footprint", .level = "all", .suite = quick_if(quick)}, plan);
    if (counted) {
      const bool may_hit_l1 =
          curve.access.operation == Operation::load && curve.access.path == Path::cached;
      count(c, curve.access.operation, shape.bytes_moved, may_hit_l1 ? From::l1 : From::l2,
            plan.sharing == Sharing::interleaved);
    }
    c.extras["bytes_per_sm"] = static_cast<double>(shape.working_set) / device.sms;
    result.push_back(std::move(c));
  }
}

}  // namespace

std::vector<Case> footprint_cases(const DeviceFacts& device) {
  const std::uint64_t one_tile_each = static_cast<std::uint64_t>(device.sms) * Access{}.tile();
  const std::uint64_t smallest_l2 = std::min<std::uint64_t>(mib, device.l2_bytes / 8);
  const std::uint64_t smallest_shared =
      granule({Sharing::interleaved, device.sms, 32, Access{}.tile()});
  // Where the L2 is small, fewer warps share it out.
  const std::uint64_t smallest_stored = std::min(smallest_shared, device.l2_bytes / 4);
  std::vector<Case> result;
  add_curve(result, device, {{Operation::load, Path::cached, 16, 4}, 2 * one_tile_each, 3, 1});
  add_curve(result, device, {{Operation::load, Path::l2_only, 16, 4}, smallest_l2, 4, 1});
  add_curve(result, device, {{Operation::store, Path::l2_only, 16, 4}, smallest_stored, 3, 0});
  add_curve(result, device, {{Operation::copy, Path::l2_only, 16, 4}, 2 * smallest_stored, 3, 0});
  for (const int width : {8, 4}) {
    add_curve(result, device, {{Operation::load, Path::cached, width, 4}, 2 * one_tile_each, 1, 0});
    add_curve(result, device, {{Operation::load, Path::l2_only, width, 4}, smallest_l2, 1, 0});
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
