#include <algorithm>

#include "probes/memory_latency/cases.h"

// The L2 and what lies behind it, as one SM sees them.

namespace fathom::memory_latency {
namespace {

constexpr std::size_t line = 128;
constexpr std::size_t mib = std::size_t{1} << 20;

/// A set as large as a curve needs is not walked by one thread in the time there is. The block
/// reads it all, so that the L2 holds what it can of it, and the thread then follows the first part
/// of the chain, which is a random choice of lines.
constexpr int curve_loads = 4096;

Case size_case(const DeviceFacts& device, std::size_t bytes, bool quick, bool counted) {
  Case c = make_case({"size",
                      "L2",
                      "ld.global.cg",
                      Timed::mean,
                      {{"working set (B)", static_cast<std::int64_t>(bytes)}},
                      quick ? Suite::quick : Suite::standard});
  GlobalChase g;
  g.load = GlobalLoad::l2_only;
  g.chase.chain = {.count = static_cast<std::uint32_t>(bytes / line), .stride = line};
  g.chase.warm = every_word(bytes);
  g.chase.warm_passes = 1;
  // Around the edges a change of slope must show: the points that only the default suite has are
  // measured longer.
  g.chase.loads = quick ? curve_loads : 4 * curve_loads;
  c.extras["expected_l2_bytes"] = static_cast<double>(device.l2_bytes);
  if (counted) c.counters = {load_sectors(g), {"l2_hit_rate", std::nullopt, 0, ""}};
  c.prepare = global_workload(g, device, Timed::mean);
  return c;
}

}  // namespace

std::vector<Case> l2_cases(const DeviceFacts& device) {
  const std::size_t l2 = device.l2_bytes;
  const std::size_t unit = l2 >= 16 * mib ? mib / 4 : 16 * 1024;
  const std::size_t high = std::min(4 * l2, region_bytes(device));
  std::vector<Case> result;
  const std::vector<std::size_t> coarse = geometric(256 * 1024, high, 2, unit);
  // Where edges may be: the L2 as a whole, its partitions, and what a partition keeps of the
  // other's.
  const std::size_t step = std::max(unit, l2 / 64 / unit * unit);
  std::vector<std::size_t> fine;
  for (std::size_t size = l2 / 4 / step * step; size <= l2 * 5 / 4; size += step) {
    fine.push_back(size);
  }
  std::vector<std::size_t> sizes = coarse;
  sizes.insert(sizes.end(), fine.begin(), fine.end());
  sort_unique(sizes);
  for (const std::size_t size : sizes) {
    const bool in_coarse = std::find(coarse.begin(), coarse.end(), size) != coarse.end();
    const bool every_fourth = size % (4 * step) == 0;
    result.push_back(size_case(device, size, in_coarse || every_fourth, in_coarse));
  }
  return result;
}

}  // namespace fathom::memory_latency
