#include <algorithm>

#include "harness/cuda_check.h"
#include "models/occupancy.h"
#include "probes/memory_latency/cases.h"

namespace fathom::memory_latency {
namespace {

constexpr std::size_t line = 128;
/// At least one round of every working set of the L1's curves. One thread has no time to walk over
/// one of the L2's: the block reads it all, and the thread then follows the first part of the
/// chain, a random choice of lines.
constexpr int curve_loads = 4096;

void add_steps(std::set<std::size_t>& sizes, std::size_t low, std::size_t high, std::size_t step) {
  for (std::size_t size = low; size <= high; size += step) sizes.insert(size);
}

/// The cases of one cache, which say how much they expect it to hold.
struct Sweep {
  std::vector<Case>& result;
  GlobalLoad load;
  double expected = 0;  ///< bytes
  int carveout_percent = 0;

  bool is_l1() const { return load == GlobalLoad::cached; }
  Case& add(const char* name, const Chase& chase, const Axes& axes, Suite suite) {
    return result.emplace_back(
        make_case(name, is_l1() ? "L1" : "L2", name_of(load), Timed::mean, axes,
                  chase_workload(chase, in_region(load, carveout_percent)), suite));
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

  /// A point of a curve. The block reads all of the set before. Every sixth of the coarse points is
  /// counted, which takes several times as long as timing it and tells the same of all points.
  void add_size(Chase chase, Axes more, std::size_t bytes, Suite suite,
                const std::set<std::size_t>& coarse) {
    more.push_back(working_set_axis(bytes));
    chase.warm = spread(bytes, sizeof(std::uint64_t));
    Case& c = add("size", chase, more, suite);
    const auto at = coarse.find(bytes);
    if (at != coarse.end() && std::distance(coarse.begin(), at) % 6 == 0)
      c.counters = hits(load, chase);
    expect(c);
  }

  /// Elements of a chase, one in each stride, that fill three quarters of the cache if a line is
  /// half of the candidate and four thirds of it if a line is that long: at strides of half the
  /// candidate they fit, and at the candidate's only if a line is shorter. They are at random in
  /// one half or the other of their strides, or a shorter line would leave every second set empty.
  void add_lines(Suite suite) {
    for (const int candidate : {64, 128, 256}) {
      for (const int stride : {candidate / 2, candidate}) {
        const int count = static_cast<int>(expected / (0.75 * candidate));
        Chase chase = strided(static_cast<std::size_t>(count), stride);
        chase.chain.jitter_slots = 2;
        chase.chain.jitter_bytes = static_cast<std::uint32_t>(stride) / 2;
        chase.warm = chase.chain;
        if (is_l1()) chase.loads = (count + chase_unroll - 1) / chase_unroll * chase_unroll;
        add("line", chase, {{"candidate (B)", candidate}, {"stride (B)", stride}}, suite);
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
  Sweep l1{result, GlobalLoad::cached};
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
      l1.add_size(l1.strided(size / line, line), {{"carve-out (KiB)", carveout}}, size,
                  quick_if(end), coarse);
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
  Sweep l2{result, GlobalLoad::l2_only, static_cast<double>(size)};
  const std::size_t unit = size >= 16 * mib ? mib / 4 : 16 * 1024;
  const std::set<std::size_t> coarse =
      geometric(256 * 1024, std::min(4 * size, region_bytes(device)), 2, unit);
  // Where edges may be: the L2, its partitions, and what a partition keeps of the other's.
  const std::size_t step = std::max(unit, size / 64 / unit * unit);
  std::set<std::size_t> sizes = coarse;
  add_steps(sizes, size / 4 / step * step, size * 5 / 4, step);
  for (const std::size_t bytes : sizes) {
    const bool quick = coarse.contains(bytes) || bytes % (4 * step) == 0;
    Chase chase = l2.strided(bytes / line, line);
    chase.warm_passes = 1;
    // Around the edges a change of slope must show.
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

Reporting pairs(Context& context, const Level& level, int distance) {
  cudaStream_t stream = context.stream();
  const std::size_t bytes = level.count * level.spacing;
  const Buffer memory = context.buffers().output("pairs", bytes);
  const auto base = reinterpret_cast<std::uint64_t>(memory.data);
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
  ChaseEnd end{base};
  for (std::uint64_t pair = 0; pair < level.count; ++pair) {
    const std::uint64_t first = pair * level.spacing, second = first + distance;
    for (const std::uint64_t next : {second, first + level.spacing}) {
      words[(end.address - base) / sizeof(std::uint64_t)] = base + next;
      end.sum += static_cast<std::uint32_t>(end.address);
      end.address = base + next;
    }
  }
  FATHOM_CUDA(cudaMemcpyAsync(memory.data, words.data(), bytes, cudaMemcpyHostToDevice, stream));
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  return {.chase = {.chain = {.base = base, .count = 1},
                    .loads = static_cast<int>(2 * level.count),
                    .timed = Timed::each},
          .launch = global_chase(level.load, 0),
          .end = end,
          .pairs = true};
}

// Constant and instruction caches.

constexpr std::uint64_t constant_line = 64;  ///< of the constant L1 (Jia et al., 2018, on Volta)

/// Puts the chain, whose base is 0, into constant memory; the words in device memory.
const std::uint32_t* fill_constants(Context& context, const Chain& chain) {
  const std::vector<std::uint32_t> words = index_image(chain, constant_bytes);
  const Buffer image = upload(context, "constants", std::as_bytes(std::span(words)));
  copy_to_constant_memory(image.as<std::uint32_t>(), context.stream());
  return image.as<std::uint32_t>();
}

/// `cold`: no constant cache has them, since they are copied anew before each launch.
PrepareChase in_constants(bool cold = false) {
  return [=](Context& context, Chase& chase) -> LaunchChase {
    const std::uint32_t* words = fill_constants(context, chase.chain);
    return [=](const Chase& with_report, cudaStream_t stream) {
      if (cold) copy_to_constant_memory(words, stream);
      launch_constant_chase(with_report, stream);
    };
  };
}

LaunchChase in_parameters(Context&, Chase& chase) { return parameter_chase(chase.chain); }

Chase constant_chase(std::size_t bytes, Timed timed) {
  const Chain chain = spread(bytes, constant_line);
  return {.chain = chain,
          .loads = timed == Timed::mean ? 2048 : max_timed_loads,
          .walked_loads = static_cast<int>(chain.count),
          .timed = timed};
}

/// Each load from another 256 bytes, so that none finds what a miss before it brought along.
Chase first_use(std::size_t bytes, Timed timed) {
  const Chain chain = spread(bytes, 256);
  return {.chain = chain,
          .loads = static_cast<int>(chain.count) / chase_unroll * chase_unroll,
          .timed = timed};
}

void add_constants(std::vector<Case>& result) {
  for (const Timed timed : {Timed::mean, Timed::each}) {
    // Far within the 2 KiB of the first level and far beyond them (Jia et al., 2018).
    constexpr std::size_t within = 1024, beyond = 16 * kib;
    const Chase first = constant_chase(within, timed), second = constant_chase(beyond, timed);
    result.insert(result.end(),
                  {headline("constant L1", "ld.const", within, first, in_constants()),
                   headline("constant L1.5", "ld.const", beyond, second, in_constants()),
                   headline("constant L2", "ld.const", constant_bytes,
                            first_use(constant_bytes, timed), in_constants(true)),
                   headline("parameters L1", "ld.param", within, first, in_parameters),
                   headline("parameters L1.5", "ld.param", beyond, second, in_parameters),
                   headline("parameters first use", "ld.param", parameter_bytes,
                            first_use(parameter_bytes, timed), in_parameters)});
  }
  const std::set<std::size_t> coarse = geometric(512, constant_bytes, 2, constant_line);
  std::set<std::size_t> sizes = geometric(512, constant_bytes, 4, constant_line);
  add_steps(sizes, 1536, 3072, 2 * constant_line);
  add_steps(sizes, 24 * kib, constant_bytes, 2 * kib);
  for (const std::size_t size : sizes) {
    const bool fine = size >= 1536 && size <= 3072;
    result.push_back(make_case("size", "constant", "ld.const", Timed::mean,
                               {working_set_axis(size)},
                               chase_workload(constant_chase(size, Timed::mean), in_constants()),
                               quick_if(fine || coarse.contains(size))));
  }
}

// Instruction caches, by straight-line code of growing length; and constants beside such code.
// Constant memory ends before the cache behind the first constant one does, but that cache holds
// code too: what both fill together goes beyond it.

std::function<Workload(Context&)> code_workload(std::size_t code, std::size_t constants) {
  const CodeRun run{.blocks = static_cast<int>(code / code_block_bytes),
                    .constants = spread(constants, constant_line),
                    .rounds = 2};
  const int loads = static_cast<int>(run.constants.count), all = run.warm_rounds + run.rounds;
  const int counted = loads > 0 ? loads : (run.blocks - 1) * code_block_instructions;
  const int blocks = all * run.blocks + (run.blocks > 0 ? 2 : 0);  // executed
  return report_workload([=](Context& context) -> Reporting {
    fill_constants(context, run.constants);
    return {.chase = {.loads = counted * run.rounds},
            .launch =
                [=](const Chase& chase, cudaStream_t stream) {
                  CodeRun with_report = run;
                  with_report.report = chase.report;
                  launch(run_code_and_constants, {1, 1}, stream, with_report, 1.0f);
                },
            // Every round goes through the whole chain, and ends where it began.
            .end = loads > 0 ? follow(run.constants, 0, (all + 2) * loads) : ChaseEnd{},
            .executed = std::uint64_t{static_cast<unsigned>(blocks)} * code_block_sums};
  });
}

void add_code(std::vector<Case>& result) {
  constexpr std::size_t most_code = std::size_t{most_code_blocks} * code_block_bytes;
  std::set<std::size_t> sizes = geometric(4 * kib, most_code, 2, code_block_bytes);
  add_steps(sizes, 12 * kib, 48 * kib, 2 * kib);
  add_steps(sizes, 48 * kib, 160 * kib, 4 * kib);
  for (const std::size_t size : sizes) {
    Case& c = result.emplace_back(make_case("code", "instruction caches", "fma.rn.f32", Timed::mean,
                                            {working_set_axis(size)}, code_workload(size, 0)));
    c.metric.name = "issue interval";
  }
  for (const auto& [constants, step] :
       {std::pair{std::size_t{constant_bytes}, 4 * kib}, {std::size_t{16 * kib}, 8 * kib}}) {
    std::set<std::size_t> both{most_code / 2 + constants, most_code + constants};
    add_steps(both, constant_bytes, 176 * kib, step);
    for (const std::size_t size : both)
      result.push_back(make_case(
          "beside code", "constant", "ld.const", Timed::mean,
          {{"constants (B)", static_cast<std::int64_t>(constants)}, working_set_axis(size)},
          code_workload(size - constants, constants)));
  }
}

}  // namespace

std::vector<CounterRequest> hits(GlobalLoad load, const Chase& chase) {
  const double warmed =
      chase.warm.stride >= 32 ? chase.warm.count : chase.warm.count * chase.warm.stride / 32.0;
  std::vector<CounterRequest> counters{
      {"global_load_sectors", chase.loads + chase.walked_loads + warmed * chase.warm_passes, 0,
       "one sector a load of the chasing thread, and the sectors of the loads that warm up"},
      {"l1_hit_rate"}};
  if (load == GlobalLoad::l2_only)
    counters.insert(counters.end(), {{"l2_hit_rate"}, {"dram_read_bytes"}});
  return counters;
}

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
      const auto prepare = [=](Context& context) { return pairs(context, level, distance); };
      Case& c = result.emplace_back(make_case("fetch", level.name, name_of(level.load), Timed::each,
                                              {{"distance (B)", distance}},
                                              report_workload(prepare), Suite::quick));
      c.cache = level.cache;
    }
  }
  add_constants(result);
  add_code(result);
  return result;
}

}  // namespace fathom::memory_latency
