#include <fmt/format.h>

#include "probes/memory_latency/cases.h"

// How much of memory a miss brings along: the first load of a pair misses, the second, some bytes
// further on, hits where the miss has brought that too.

namespace fathom::memory_latency {
namespace {

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

/// The second word of a pair stays within the next pair's distance.
constexpr int distances[] = {4, 16, 28, 32, 60, 64, 96, 124, 128, 192, 252, 256, 512};

std::optional<std::string> check(const Report& report, const Pairs& pairs) {
  std::uint32_t expected = 0;
  for (std::uint32_t i = 0; i < pairs.count; ++i) {
    const auto word = static_cast<std::uint32_t>(i * pairs.spacing / 4);
    expected += word_value(word) + word_value(word + pairs.distance / 4);
  }
  if (report.sum == expected) return std::nullopt;
  return fmt::format("the words read sum to {:#x} instead of {:#x}", report.sum, expected);
}

Case pair_case(const Level& level, int distance) {
  Case c = make_case({"fetch",
                      level.name,
                      level.instruction,
                      Timed::each,
                      {{"distance (B)", std::int64_t{distance}}},
                      Suite::quick});
  c.cache = level.cache;
  const auto readings = std::make_shared<Readings>();
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const std::size_t bytes = level.count * level.spacing;
    const Buffer memory = context.buffers().output("pairs", bytes);
    const Buffer report = report_buffer(context);
    launch_fill_words(memory.as<std::uint32_t>(), bytes / 4, stream);
    const Pairs pairs{memory.data, level.count, level.spacing, static_cast<std::uint32_t>(distance),
                      report.as<Report>()};
    Workload workload;
    workload.launch = [=] { launch_pairs(level.load, pairs, stream); };
    workload.poison = poisoning(context, {report});
    workload.verify = [=] { return check(read_report(report, stream), pairs); };
    // The median: the first load of a page's first pair may leave a translation behind or not.
    workload.read_sample = [=] {
      readings->take(read_report(report, stream), Timed::each, static_cast<int>(level.count));
      return readings->last_median();
    };
    workload.extras = [=] { return readings->extras(); };
    return workload;
  };
  return c;
}

}  // namespace

std::vector<Case> fetch_cases(const DeviceFacts&) {
  std::vector<Case> result;
  for (const Level& level : levels)
    for (const int distance : distances) result.push_back(pair_case(level, distance));
  return result;
}

}  // namespace fathom::memory_latency
