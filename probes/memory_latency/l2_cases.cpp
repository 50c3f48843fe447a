#include <algorithm>

#include "probes/memory_latency/cases.h"

// The L2 and what lies behind it, as one SM sees them.

namespace fathom::memory_latency {
namespace {

constexpr std::size_t line = 128;
constexpr std::size_t kib = 1024;
constexpr std::size_t mib = std::size_t{1} << 20;

/// A set as large as a curve needs is not walked by one thread in the time there is. The block
/// reads it all, so that the L2 holds what it can of it, and the thread then follows the first part
/// of the chain, which is a random choice of lines.
constexpr int curve_loads = 4096;

Case size_case(const DeviceFacts& device, std::size_t bytes, bool quick, bool counted) {
  Case c = make_case(
      {"size", "L2", "ld.global.cg", Timed::mean, {working_set_axis(bytes)}, quick_if(quick)});
  GlobalChase g;
  g.load = GlobalLoad::l2_only;
  g.chase.chain = {.count = static_cast<std::uint32_t>(bytes / line), .stride = line};
  g.chase.warm = every_word(bytes);
  g.chase.warm_passes = 1;
  // Around the edges a change of slope must show: the points that only the default suite has are
  // measured longer.
  g.chase.loads = quick ? curve_loads : 4 * curve_loads;
  c.extras["expected_l2_bytes"] = static_cast<double>(device.l2_bytes);
  if (counted) c.counters = hits_past_l1(g);
  c.prepare = global_workload(g, device, Timed::mean);
  return c;
}

/// Elements as the L1's (see l1_cases.cpp): they fill two thirds of the L2 if a line is half of
/// `candidate` and four thirds of it if a line is that long.
void add_line_cases(std::vector<Case>& result, const DeviceFacts& device) {
  for (const int candidate : {64, 128, 256}) {
    for (const int stride : {candidate / 2, candidate}) {
      Case c = make_case(
          {"line",
           "L2",
           "ld.global.cg",
           Timed::mean,
           {{"candidate (B)", std::int64_t{candidate}}, {"stride (B)", std::int64_t{stride}}}});
      GlobalChase g;
      g.load = GlobalLoad::l2_only;
      g.chase.chain = {.count = static_cast<std::uint32_t>(static_cast<double>(device.l2_bytes) /
                                                           (0.75 * candidate)),
                       .stride = static_cast<std::uint64_t>(stride),
                       .jitter_slots = 2,
                       .jitter_bytes = static_cast<std::uint32_t>(stride) / 2};
      g.chase.warm = g.chase.chain;
      g.chase.warm_passes = 2;
      g.chase.loads = curve_loads;
      c.prepare = global_workload(g, device, Timed::mean);
      result.push_back(std::move(c));
    }
  }
}

/// As many lines at each stride, by far fewer than the L2 holds. A set that was some bits of the
/// address would be one of fewer sets the wider the stride.
void add_associativity_cases(std::vector<Case>& result, const DeviceFacts& device) {
  constexpr std::size_t lines = 4096;
  for (const std::size_t stride : {line, 4 * kib, 16 * kib, 64 * kib, 256 * kib}) {
    if (lines * stride > region_bytes(device)) continue;
    Case c = make_case({"associativity",
                        "L2",
                        "ld.global.cg",
                        Timed::mean,
                        {{"stride (B)", static_cast<std::int64_t>(stride)},
                         {"elements", static_cast<std::int64_t>(lines)}}});
    GlobalChase g;
    g.load = GlobalLoad::l2_only;
    g.chase.chain = {.count = static_cast<std::uint32_t>(lines), .stride = stride};
    g.chase.warm = g.chase.chain;
    g.chase.warm_passes = 2;
    g.chase.loads = curve_loads;
    c.extras["expected_l2_bytes"] = static_cast<double>(device.l2_bytes);
    if (stride == line || stride >= 64 * kib) {
      c.counters = {
          {"l2_read_sectors"}, {"l2_slice_read_sectors"}, {"l2_busiest_slice_read_sectors"}};
    }
    c.prepare = global_workload(g, device, Timed::mean);
    result.push_back(std::move(c));
  }
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
  for (std::size_t size = l2 / 4 / step * step; size <= l2 * 5 / 4; size += step)
    fine.push_back(size);
  std::vector<std::size_t> sizes = coarse;
  sizes.insert(sizes.end(), fine.begin(), fine.end());
  sort_unique(sizes);
  for (const std::size_t size : sizes) {
    const auto at = std::ranges::find(coarse, size);
    const bool in_coarse = at != coarse.end();
    const bool every_fourth = size % (4 * step) == 0;
    result.push_back(
        size_case(device, size, in_coarse || every_fourth,
                  in_coarse && counted_point(static_cast<std::size_t>(at - coarse.begin()))));
  }
  add_line_cases(result, device);
  add_associativity_cases(result, device);
  return result;
}

}  // namespace fathom::memory_latency
