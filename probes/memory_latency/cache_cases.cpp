#include <algorithm>

#include "harness/cuda_check.h"
#include "models/occupancy.h"
#include "probes/memory_latency/cases.h"

// The L1, which the carve-out of shared memory leaves the rest of what both share, and the L2 with
// what lies behind it, as one SM sees them.

namespace fathom::memory_latency {
namespace {

constexpr std::size_t line = 128;
/// At least one round of every working set of the L1's curves. A set as large as the L2's need is
/// not walked by one thread in the time there is: the block reads it all, so that the L2 holds what
/// it can of it, and the thread then follows the first part of the chain, which is a random choice
/// of lines.
constexpr int curve_loads = 4096;

/// Whether a point of a curve is counted: every sixth of the coarse ones. Counting a case takes
/// several times as long as timing it, and tells of all points of a curve the same: that the loads
/// were those wanted, and where they hit.
bool counted_point(const std::set<std::size_t>& coarse, std::size_t size) {
  const auto at = coarse.find(size);
  return at != coarse.end() && std::distance(coarse.begin(), at) % 6 == 0;
}

/// A chase through elements that the block has read twice before.
GlobalChase strided_chase(GlobalLoad load, std::size_t count, std::uint64_t stride) {
  const Chain chain{.count = static_cast<std::uint32_t>(count), .stride = stride};
  return {load, {.chain = chain, .loads = curve_loads, .warm = chain, .warm_passes = 2}};
}

/// The case of a chase, by the axes of its sweep.
Case chase_case(const DeviceFacts& device, const char* sweep, const GlobalChase& g,
                const Axes& axes, Suite suite) {
  const bool past_l1 = g.load == GlobalLoad::l2_only;
  Case c = make_case(sweep, past_l1 ? "L2" : "L1", past_l1 ? "ld.global.cg" : "ld.global",
                     Timed::mean, axes, suite);
  c.prepare = global_workload(g, device);
  return c;
}

/// Elements of a chase, one in each stride, that fill three quarters of the `bytes` of a cache if a
/// line is half of the candidate and four thirds of it if a line is that long: at strides of half
/// the candidate they fit, and at the candidate's they do if and only if a line is shorter.
/// Elements are at random in one half or the other of their strides, or a shorter line would leave
/// every second set empty.
template <class MakeChase>
void add_line_cases(std::vector<Case>& result, const DeviceFacts& device, double bytes, Suite suite,
                    MakeChase chase_of) {
  for (const int candidate : {64, 128, 256}) {
    for (const int stride : {candidate / 2, candidate}) {
      GlobalChase g = chase_of(static_cast<std::size_t>(bytes / (0.75 * candidate)),
                               static_cast<std::uint64_t>(stride));
      g.chase.chain.jitter_slots = 2;
      g.chase.chain.jitter_bytes = static_cast<std::uint32_t>(stride) / 2;
      g.chase.warm = g.chase.chain;
      result.push_back(chase_case(
          device, "line", g,
          {{"candidate (B)", std::int64_t{candidate}}, {"stride (B)", std::int64_t{stride}}},
          suite));
    }
  }
}

Case associativity_case(const DeviceFacts& device, const GlobalChase& g, Suite suite) {
  return chase_case(device, "associativity", g,
                    {{"stride (B)", static_cast<std::int64_t>(g.chase.chain.stride)},
                     {"elements", std::int64_t{g.chase.chain.count}}},
                    suite);
}

/// A point of a curve, on axes `more`. The block reads all of the set before.
Case size_case(const DeviceFacts& device, GlobalChase g, Axes more, std::size_t bytes, Suite suite,
               bool counted) {
  more.push_back(working_set_axis(bytes));
  g.chase.warm = every_word(bytes);
  Case c = chase_case(device, "size", g, more, suite);
  if (counted) c.counters = hits(g);
  return c;
}

// The L1.

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
  GlobalChase g = strided_chase(GlobalLoad::cached, count, stride);
  // A round by the thread itself: what the crowd's loads threw out comes back if it fits.
  g.chase.walked_loads = static_cast<int>(count);
  g.carveout_percent = percent;
  return g;
}

/// `thorough`: more points, on the way to the edge and around it.
void add_size_curve(std::vector<Case>& result, const DeviceFacts& device,
                    const models::SmLimits& sm, int carveout_kib, bool thorough) {
  const std::size_t expected = sm.unified_bytes - carveout_kib * kib;
  const std::set<std::size_t> coarse = geometric(4 * kib, 2 * expected, thorough ? 2 : 1, kib);
  std::set<std::size_t> sizes = coarse;
  // More below than above: the hardware may keep some for itself, but has no more than there is.
  const std::size_t below = std::min(expected / 2, (thorough ? 24 : 12) * kib);
  add_steps(sizes, expected - below, expected + 5 * kib, kib);
  for (const std::size_t size : sizes) {
    result.push_back(size_case(device, l1_chase(size / line, line, percent_for(sm, carveout_kib)),
                               {{"carve-out (KiB)", std::int64_t{carveout_kib}}}, size,
                               quick_if(thorough), counted_point(coarse, size)));
    result.back().extras["expected_l1_bytes"] = static_cast<double>(expected);
  }
}

void add_l1(std::vector<Case>& result, const DeviceFacts& device) {
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  const std::vector<int> carveouts = carveouts_of(device, sm);
  for (const int carveout : carveouts) {
    // The two ends are in the quick suite too.
    const bool end = carveout == carveouts.front() || carveout == carveouts.back();
    add_size_curve(result, device, sm, carveout, end);
  }
  const std::size_t bytes = sm.unified_bytes - carveouts.front() * kib;
  const int percent = percent_for(sm, carveouts.front());
  add_line_cases(result, device, static_cast<double>(bytes), Suite::quick,
                 [=](std::size_t count, std::uint64_t stride) {
                   GlobalChase g = l1_chase(count, stride, percent);
                   g.chase.loads =
                       static_cast<int>((count + chase_unroll - 1) / chase_unroll * chase_unroll);
                   return g;
                 });
  // The most: as many lines as fill seven eighths of the cache, whatever sets they fall into.
  const std::size_t most = bytes / line * 7 / 8;
  for (const std::size_t stride : {4 * kib, 16 * kib, 64 * kib}) {
    for (const std::size_t elements :
         {std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{32}, std::size_t{64},
          std::size_t{128}, std::size_t{256}, most}) {
      result.push_back(associativity_case(device, l1_chase(elements, stride, percent),
                                          quick_if(stride == 16 * kib)));
      result.back().extras["expected_l1_bytes"] = static_cast<double>(bytes);
    }
  }
}

// The L2.

void add_l2(std::vector<Case>& result, const DeviceFacts& device) {
  const std::size_t l2 = device.l2_bytes;
  const std::size_t unit = l2 >= 16 * mib ? mib / 4 : 16 * 1024;
  const std::size_t high = std::min(4 * l2, region_bytes(device));
  const std::set<std::size_t> coarse = geometric(256 * 1024, high, 2, unit);
  // Where edges may be: the L2 as a whole, its partitions, and what a partition keeps of the
  // other's.
  const std::size_t step = std::max(unit, l2 / 64 / unit * unit);
  std::set<std::size_t> sizes = coarse;
  add_steps(sizes, l2 / 4 / step * step, l2 * 5 / 4, step);
  for (const std::size_t size : sizes) {
    const bool quick = coarse.contains(size) || size % (4 * step) == 0;
    GlobalChase g = strided_chase(GlobalLoad::l2_only, size / line, line);
    g.chase.warm_passes = 1;
    // Around the edges a change of slope must show: the points that only the default suite has are
    // measured longer.
    g.chase.loads = quick ? curve_loads : 4 * curve_loads;
    result.push_back(size_case(device, g, {}, size, quick_if(quick), counted_point(coarse, size)));
    result.back().extras["expected_l2_bytes"] = static_cast<double>(l2);
  }
  add_line_cases(result, device, static_cast<double>(l2), Suite::standard,
                 [](std::size_t count, std::uint64_t stride) {
                   return strided_chase(GlobalLoad::l2_only, count, stride);
                 });
  // As many lines at each stride, by far fewer than the L2 holds. A set that was some bits of the
  // address would be one of fewer sets the wider the stride.
  constexpr std::size_t lines = 4096;
  for (const std::size_t stride : {line, 4 * kib, 16 * kib, 64 * kib, 256 * kib}) {
    if (lines * stride > region_bytes(device)) continue;
    Case c = associativity_case(device, strided_chase(GlobalLoad::l2_only, lines, stride),
                                Suite::standard);
    c.extras["expected_l2_bytes"] = static_cast<double>(l2);
    if (stride == line || stride >= 64 * kib) {
      c.counters = {
          {"l2_read_sectors"}, {"l2_slice_read_sectors"}, {"l2_busiest_slice_read_sectors"}};
    }
    result.push_back(std::move(c));
  }
}

// How much of memory a miss brings along: the first load of a pair misses, the second, some bytes
// further on, hits where the miss has brought that too.

/// Pairs of the L1 lie in the L2, since the launch before read them; a kernel begins with an empty
/// L1. Pairs of the L2 lie in memory: the L2 is flushed before the launch.
struct Level {
  const char* name;
  const char* instruction;
  GlobalLoad load;
  CacheState cache;
  std::uint32_t count;
  std::uint64_t spacing;
};

constexpr Level levels[] = {
    {"L1", "ld.global", GlobalLoad::cached, CacheState::hot, 128, 1024},
    {"L2", "ld.global.cg", GlobalLoad::l2_only, CacheState::cold, 512, 4096},
};

/// The second word of a pair, of 8 bytes, stays within the next pair's distance.
constexpr int distances[] = {8, 24, 32, 56, 64, 96, 120, 128, 192, 248, 256, 512};

/// One chase through all pairs in turn.
Reporting pairs(Context& context, const Level& level, int distance) {
  cudaStream_t stream = context.stream();
  const std::size_t bytes = level.count * level.spacing;
  const Buffer memory = context.buffers().output("pairs", bytes);
  const auto base = reinterpret_cast<std::uint64_t>(memory.data);
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
  ChaseEnd end{base};
  const auto go_on_to = [&](std::uint64_t offset) {
    words[(end.address - base) / sizeof(std::uint64_t)] = base + offset;
    end.sum += static_cast<std::uint32_t>(end.address);
    end.address = base + offset;
  };
  for (std::uint64_t pair = 0; pair < level.count; ++pair) {
    go_on_to(pair * level.spacing + static_cast<std::uint64_t>(distance));
    go_on_to((pair + 1) * level.spacing);
  }
  Chase chase{
      .chain = {.count = 1}, .loads = static_cast<int>(2 * level.count), .timed = Timed::each};
  const LaunchChase launch_it = chase_through(context, {level.load, chase}, chase, memory.data);
  FATHOM_CUDA(cudaMemcpyAsync(memory.data, words.data(), bytes, cudaMemcpyHostToDevice, stream));
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  return {[=](Report* report) mutable {
            chase.report = report;
            launch_it(chase, stream);
          },
          [=](const Report& report) { return check_end(report, end); }, Timed::each, chase.loads,
          true};
}

Case pair_case(const Level& level, int distance) {
  Case c = make_case("fetch", level.name, level.instruction, Timed::each,
                     {{"distance (B)", std::int64_t{distance}}}, Suite::quick);
  c.cache = level.cache;
  c.prepare = report_workload([=](Context& context) { return pairs(context, level, distance); });
  return c;
}

}  // namespace

std::vector<Case> cache_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  add_l1(result, device);
  add_l2(result, device);
  return result;
}

std::vector<Case> fetch_cases(const DeviceFacts&) {
  std::vector<Case> result;
  for (const Level& level : levels)
    for (const int distance : distances) result.push_back(pair_case(level, distance));
  return result;
}

}  // namespace fathom::memory_latency
