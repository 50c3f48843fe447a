#include <algorithm>

#include "models/occupancy.h"
#include "probes/memory_latency/cases.h"

// The L1: the carve-out of shared memory leaves it the rest of what both share.

namespace fathom::memory_latency {
namespace {

constexpr std::size_t line = 128;
constexpr std::size_t kib = 1024;
constexpr int curve_loads = 4096;  // at least one round of every working set of the curves

/// What the driver can set while a block runs: each block takes some shared memory for the system,
/// so that a carve-out of nothing becomes the next larger one.
std::vector<int> carveouts_of(const DeviceFacts& device, const models::SmLimits& sm) {
  std::vector<int> result;
  for (const int carveout : sm.carveouts_kib)
    if (carveout * kib >= device.reserved_shared_bytes_per_block) result.push_back(carveout);
  return result;
}

/// The preference with which the driver, which rounds up, takes this carve-out.
int percent_for(const models::SmLimits& sm, int carveout_kib) {
  return 100 * carveout_kib / (sm.shared_bytes / 1024);
}

GlobalChase l1_chase(std::size_t count, std::uint64_t stride, int percent) {
  GlobalChase g;
  g.chase.chain = {.count = static_cast<std::uint32_t>(count), .stride = stride};
  g.chase.warm = g.chase.chain;
  g.chase.warm_passes = 2;
  // A round by the thread itself: what the crowd's loads threw out comes back if it fits.
  g.chase.walked_loads = static_cast<int>(count);
  g.chase.loads = curve_loads;
  g.carveout_percent = percent;
  return g;
}

Case size_case(const DeviceFacts& device, const models::SmLimits& sm, int carveout_kib,
               std::size_t bytes, bool quick, bool counted) {
  Case c = make_case({"size",
                      "L1",
                      "ld.global",
                      Timed::mean,
                      {{"carve-out (KiB)", std::int64_t{carveout_kib}}, working_set_axis(bytes)},
                      quick_if(quick)});
  GlobalChase g = l1_chase(bytes / line, line, percent_for(sm, carveout_kib));
  g.chase.warm = every_word(bytes);
  c.extras["expected_l1_bytes"] = sm.unified_bytes - carveout_kib * 1024.0;
  if (counted) c.counters = hits_in_l1(g);
  c.prepare = global_workload(g, device, Timed::mean);
  return c;
}

/// `thorough`: more points, on the way to the edge and around it.
void add_size_curve(std::vector<Case>& result, const DeviceFacts& device,
                    const models::SmLimits& sm, int carveout_kib, bool thorough) {
  const std::size_t expected = sm.unified_bytes - carveout_kib * kib;
  const std::vector<std::size_t> coarse = geometric(4 * kib, 2 * expected, thorough ? 2 : 1, kib);
  std::vector<std::size_t> sizes = coarse;
  // More below than above: the hardware may keep some for itself, but has no more than there is.
  const std::size_t below = std::min(expected / 2, (thorough ? 24 : 12) * kib);
  for (std::size_t size = expected - below; size <= expected + 5 * kib; size += kib)
    sizes.push_back(size);
  sort_unique(sizes);
  for (const std::size_t size : sizes) {
    const auto at = std::ranges::find(coarse, size);
    const bool counted =
        at != coarse.end() && counted_point(static_cast<std::size_t>(at - coarse.begin()));
    result.push_back(size_case(device, sm, carveout_kib, size, thorough, counted));
  }
}

/// Elements, one in each stride, that fill three quarters of the L1 if a line is half of
/// `candidate` and four thirds of it if a line is that long: at strides of half the candidate they
/// fit, and at the candidate's they do if and only if a line is shorter. Elements are at random in
/// one half or the other of their strides, or a shorter line would leave every second set empty.
void add_line_cases(std::vector<Case>& result, const DeviceFacts& device,
                    const models::SmLimits& sm, int carveout_kib) {
  const double bytes = sm.unified_bytes - carveout_kib * 1024.0;
  for (const int candidate : {64, 128, 256}) {
    for (const int stride : {candidate / 2, candidate}) {
      GlobalChase g = l1_chase(static_cast<std::size_t>(bytes / (0.75 * candidate)),
                               static_cast<std::uint64_t>(stride), percent_for(sm, carveout_kib));
      g.chase.chain.jitter_slots = 2;
      g.chase.chain.jitter_bytes = static_cast<std::uint32_t>(stride) / 2;
      g.chase.warm = g.chase.chain;
      g.chase.loads = whole_unrolls(g.chase.chain.count);
      Case c = make_case(
          {"line",
           "L1",
           "ld.global",
           Timed::mean,
           {{"candidate (B)", std::int64_t{candidate}}, {"stride (B)", std::int64_t{stride}}},
           Suite::quick});
      c.prepare = global_workload(g, device, Timed::mean);
      result.push_back(std::move(c));
    }
  }
}

void add_associativity_cases(std::vector<Case>& result, const DeviceFacts& device,
                             const models::SmLimits& sm, int carveout_kib) {
  // The most: as many lines as fill seven eighths of the cache, whatever sets they fall into.
  const std::size_t most = (sm.unified_bytes - carveout_kib * kib) / line * 7 / 8;
  for (const std::size_t stride : {4 * kib, 16 * kib, 64 * kib}) {
    for (const std::size_t elements :
         {std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{32}, std::size_t{64},
          std::size_t{128}, std::size_t{256}, most}) {
      GlobalChase g = l1_chase(elements, stride, percent_for(sm, carveout_kib));
      Case c = make_case({"associativity",
                          "L1",
                          "ld.global",
                          Timed::mean,
                          {{"stride (B)", static_cast<std::int64_t>(stride)},
                           {"elements", static_cast<std::int64_t>(elements)}},
                          quick_if(stride == 16 * kib)});
      c.extras["expected_l1_bytes"] = sm.unified_bytes - carveout_kib * 1024.0;
      c.prepare = global_workload(g, device, Timed::mean);
      result.push_back(std::move(c));
    }
  }
}

}  // namespace

std::vector<Case> l1_cases(const DeviceFacts& device) {
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  std::vector<Case> result;
  const std::vector<int> carveouts = carveouts_of(device, sm);
  for (const int carveout : carveouts) {
    // The two ends are in the quick suite too.
    const bool end = carveout == carveouts.front() || carveout == carveouts.back();
    add_size_curve(result, device, sm, carveout, end);
  }
  add_line_cases(result, device, sm, carveouts.front());
  add_associativity_cases(result, device, sm, carveouts.front());
  return result;
}

}  // namespace fathom::memory_latency
