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

/// The cases of one cache, which say how much they expect it to hold.
struct Sweep {
  std::vector<Case>& result;
  const DeviceFacts& device;
  GlobalLoad load;
  double expected = 0;  ///< bytes
  int carveout_percent = 0;

  bool is_l1() const { return load == GlobalLoad::cached; }
  Case& add(const char* name, const Chase& chase, const Axes& axes, Suite suite) {
    Case& c = result.emplace_back(
        make_case(name, is_l1() ? "L1" : "L2", name_of(load), Timed::mean, axes, suite));
    c.prepare = chase_workload(chase, in_region(device, load, carveout_percent));
    return c;
  }
  void expect(Case& c) const {
    c.extras[is_l1() ? "expected_l1_bytes" : "expected_l2_bytes"] = expected;
  }

  /// A chase through elements that the block has read twice before. A round by the thread itself
  /// brings back into the L1 what the crowd's loads threw out, if it fits.
  Chase strided(std::size_t count, std::uint64_t stride) const {
    const Chain chain{.count = static_cast<std::uint32_t>(count), .stride = stride};
    return {.chain = chain,
            .loads = curve_loads,
            .walked_loads = is_l1() ? static_cast<int>(count) : 0,
            .warm = chain,
            .warm_passes = 2};
  }

  /// A point of a curve, on axes `more`. The block reads all of the set before. Every sixth of the
  /// coarse points is counted: counting a case takes several times as long as timing it, and tells
  /// of all points of a curve the same: that the loads were those wanted, and where they hit.
  void add_size(Chase chase, Axes more, std::size_t bytes, Suite suite,
                const std::set<std::size_t>& coarse) {
    more.push_back(working_set_axis(bytes));
    chase.warm = every_word(bytes);
    Case& c = add("size", chase, more, suite);
    const auto at = coarse.find(bytes);
    if (at != coarse.end() && std::distance(coarse.begin(), at) % 6 == 0)
      c.counters = hits(load, chase);
    expect(c);
  }

  /// Elements of a chase, one in each stride, that fill three quarters of the cache if a line is
  /// half of the candidate and four thirds of it if a line is that long: at strides of half the
  /// candidate they fit, and at the candidate's they do if and only if a line is shorter. Elements
  /// are at random in one half or the other of their strides, or a shorter line would leave every
  /// second set empty.
  void add_lines(Suite suite) {
    for (const int candidate : {64, 128, 256}) {
      for (const int stride : {candidate / 2, candidate}) {
        const int count = static_cast<int>(expected / (0.75 * candidate));
        Chase chase = strided(static_cast<std::size_t>(count), stride);
        chase.chain.jitter_slots = 2;
        chase.chain.jitter_bytes = static_cast<std::uint32_t>(stride) / 2;
        chase.warm = chase.chain;
        if (is_l1()) chase.loads = (count + chase_unroll - 1) / chase_unroll * chase_unroll;
        add("line", chase,
            {{"candidate (B)", std::int64_t{candidate}}, {"stride (B)", std::int64_t{stride}}},
            suite);
      }
    }
  }

  Case& add_associativity(std::size_t count, std::uint64_t stride, Suite suite) {
    Case& c = add("associativity", strided(count, stride),
                  {{"stride (B)", static_cast<std::int64_t>(stride)},
                   {"elements", static_cast<std::int64_t>(count)}},
                  suite);
    expect(c);
    return c;
  }
};

void add_l1(std::vector<Case>& result, const DeviceFacts& device) {
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  Sweep l1{result, device, GlobalLoad::cached};
  // What the driver can set while a block runs: each block takes some shared memory for the system,
  // so that a carve-out of nothing becomes the next larger one.
  std::vector<int> carveouts;
  for (const int carveout : sm.carveouts_kib)
    if (carveout * kib >= device.reserved_shared_bytes_per_block) carveouts.push_back(carveout);
  const auto leave = [&](int carveout) {
    const std::size_t bytes = sm.unified_bytes - carveout * kib;
    l1.expected = static_cast<double>(bytes);
    // With this preference the driver, which rounds up, takes this carve-out.
    l1.carveout_percent = 100 * carveout / (sm.shared_bytes / 1024);
    return bytes;
  };
  for (const int carveout : carveouts) {
    // The two ends are in the quick suite too, with more points, on the way to the edge and around.
    const bool end = carveout == carveouts.front() || carveout == carveouts.back();
    const std::size_t expected = leave(carveout);
    const std::set<std::size_t> coarse = geometric(4 * kib, 2 * expected, end ? 2 : 1, kib);
    std::set<std::size_t> sizes = coarse;
    // More below than above: the hardware may keep some for itself, but has no more than there is.
    const std::size_t below = std::min(expected / 2, (end ? 24 : 12) * kib);
    add_steps(sizes, expected - below, expected + 5 * kib, kib);
    for (const std::size_t size : sizes)
      l1.add_size(l1.strided(size / line, line), {{"carve-out (KiB)", std::int64_t{carveout}}},
                  size, quick_if(end), coarse);
  }
  const std::size_t bytes = leave(carveouts.front());
  l1.add_lines(Suite::quick);
  // The most: as many lines as fill seven eighths of the cache, whatever sets they fall into.
  for (const std::size_t stride : {4 * kib, 16 * kib, 64 * kib})
    for (std::size_t elements : {4, 8, 16, 32, 64, 128, 256, 0})
      l1.add_associativity(elements > 0 ? elements : bytes / line * 7 / 8, stride,
                           quick_if(stride == 16 * kib));
}

void add_l2(std::vector<Case>& result, const DeviceFacts& device) {
  const std::size_t size = device.l2_bytes;
  Sweep l2{result, device, GlobalLoad::l2_only, static_cast<double>(size)};
  const std::size_t unit = size >= 16 * mib ? mib / 4 : 16 * 1024;
  const std::set<std::size_t> coarse =
      geometric(256 * 1024, std::min(4 * size, region_bytes(device)), 2, unit);
  // Where edges may be: the L2 as a whole, its partitions, and what a partition keeps of the
  // other's.
  const std::size_t step = std::max(unit, size / 64 / unit * unit);
  std::set<std::size_t> sizes = coarse;
  add_steps(sizes, size / 4 / step * step, size * 5 / 4, step);
  for (const std::size_t bytes : sizes) {
    const bool quick = coarse.contains(bytes) || bytes % (4 * step) == 0;
    Chase chase = l2.strided(bytes / line, line);
    chase.warm_passes = 1;
    // Around the edges a change of slope must show: the points that only the default suite has are
    // measured longer.
    if (!quick) chase.loads *= 4;
    l2.add_size(chase, {}, bytes, quick_if(quick), coarse);
  }
  l2.add_lines(Suite::standard);
  // As many lines at each stride, by far fewer than the L2 holds. A set that was some bits of the
  // address would be one of fewer sets the wider the stride.
  constexpr std::size_t lines = 4096;
  for (const std::size_t stride : {line, 4 * kib, 16 * kib, 64 * kib, 256 * kib}) {
    if (lines * stride > region_bytes(device)) continue;
    Case& c = l2.add_associativity(lines, stride, Suite::standard);
    if (stride == line || stride >= 64 * kib)
      c.counters = {
          {"l2_read_sectors"}, {"l2_slice_read_sectors"}, {"l2_busiest_slice_read_sectors"}};
  }
}

// How much of memory a miss brings along: the first load of a pair misses, the second, some bytes
// further on, hits where the miss has brought that too.

/// Pairs of the L1 lie in the L2, since the launch before read them; a kernel begins with an empty
/// L1. Pairs of the L2 lie in memory: the L2 is flushed before the launch.
struct Level {
  const char* name;
  GlobalLoad load;
  CacheState cache;
  std::uint32_t count;
  std::uint64_t spacing;
};

constexpr Level levels[] = {{"L1", GlobalLoad::cached, CacheState::hot, 128, 1024},
                            {"L2", GlobalLoad::l2_only, CacheState::cold, 512, 4096}};

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
  const LaunchChase launch_it = chase_through(context, level.load, 0, chase, memory.data);
  FATHOM_CUDA(cudaMemcpyAsync(memory.data, words.data(), bytes, cudaMemcpyHostToDevice, stream));
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  return {[=](Report* report) mutable {
            chase.report = report;
            launch_it(chase, stream);
          },
          [=](std::uint64_t) { return end; }, Timed::each, chase.loads, true};
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
  for (const Level& level : levels) {
    // The second word of a pair, of 8 bytes, stays within the next pair's distance.
    for (const int distance : {8, 24, 32, 56, 64, 96, 120, 128, 192, 248, 256, 512}) {
      Case& c =
          result.emplace_back(make_case("fetch", level.name, name_of(level.load), Timed::each,
                                        {{"distance (B)", std::int64_t{distance}}}, Suite::quick));
      c.cache = level.cache;
      c.prepare =
          report_workload([=](Context& context) { return pairs(context, level, distance); });
    }
  }
  return result;
}

}  // namespace fathom::memory_latency
