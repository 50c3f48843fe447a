#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "probes/memory_bandwidth/cases.h"

// Shared memory of the own block, and of the next block of a cluster.

namespace fathom::memory_bandwidth {
namespace {

constexpr int blocks_per_sm = 2;
constexpr double clocks = 250'000;

/// Loads and stores of a warp; a copy moves each tile twice.
double bytes_per_warp(const SharedRun& run) {
  return static_cast<double>(run.walk.tile) * run.walk.tiles *
         (run.operation == Operation::copy ? 2 : 1);
}

/// What a block's memory holds in the end: of loads what it held before.
std::vector<std::uint32_t> expected_words(Operation operation, int bytes_of_lane) {
  constexpr std::uint32_t words_used = shared_bytes_used / 4;
  const auto width = static_cast<std::uint32_t>(bytes_of_lane);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < words_used; ++i) {
    const std::uint32_t offset = i * 4, warp = offset / (shared_bytes_used / shared_warps);
    const std::uint32_t lane = offset % (width * warp_lanes) / width;
    words.push_back(operation == Operation::store
                        ? store_value(warp * warp_lanes + lane, offset % width / 4)
                        : shared_word(operation == Operation::copy ? i % (words_used / 2) : i));
  }
  return words;
}

/// `run` without its buffers, which walks through the memory `passes` times.
Reporting prepare(Context& context, SharedRun run, int passes) {
  cudaStream_t stream = context.stream();
  const std::size_t blocks = static_cast<std::size_t>(run.blocks);
  const Buffer reports =
      context.buffers().output("reports", blocks * shared_warps * sizeof(WarpReport));
  const Buffer after = context.buffers().output("after", blocks * shared_bytes_used);
  prepare_shared(run.operation, run.width, run.cluster_size > 1, run.shared_bytes);
  run.reports = reports.as<WarpReport>();
  run.after = after.as<std::uint32_t>();
  const std::vector<std::uint32_t> words = expected_words(run.operation, run.width);
  const std::uint32_t loaded =
      static_cast<std::uint32_t>(passes) * std::accumulate(words.begin(), words.end(), 0u);
  return {workload_of(
              context, {reports, after}, [=] { launch_shared(run, stream); },
              [=]() -> std::optional<std::string> {
                if (run.operation != Operation::load)
                  return check_elements<std::uint32_t>(
                      after, stream, "in the blocks' memory word",
                      [&](std::size_t i) { return words[i % words.size()]; });
                const auto all = copy_to_host<WarpReport>(reports, stream);
                const auto wrong = std::ranges::find_if_not(
                    all, [=](std::uint32_t sum) { return sum == loaded; }, &WarpReport::sum);
                if (wrong == all.end()) return std::nullopt;
                return fmt::format("the words that warp {} loaded sum to {:#x} instead of {:#x}",
                                   wrong - all.begin(), wrong->sum, loaded);
              }),
          reports, bytes_per_warp(run)};
}

std::string instruction(Operation operation, bool cluster) {
  const std::string space = cluster ? "shared::cluster" : "shared";
  return operation == Operation::load    ? "ld." + space
         : operation == Operation::store ? "st." + space
                                         : "ld." + space + ", st." + space;
}

/// Shared memory of the own block where a cluster is one block, else of the next block.
Case shared_case(const DeviceFacts& device, Operation operation, int width, int cluster_size,
                 int blocks) {
  constexpr double usual_cluster_bytes_per_clock = 24;
  const bool own = cluster_size == 1;
  const int of_sm = own ? blocks_per_sm : 1, sms = blocks / of_sm;
  const double bound = limits_of(device).l1_bytes_per_clock;
  // A second block of a cluster on the same SM would read its own.
  SharedRun run{operation, width,        shared_walk(operation, width, 1),
                blocks,    cluster_size, own ? shared_bytes_used : one_block_shared_bytes(device)};
  // So many passes that the SMs are busy for `clocks`.
  const double bytes_per_clock = own ? bound : usual_cluster_bytes_per_clock;
  const int passes =
      static_cast<int>(clocks * bytes_per_clock / of_sm / shared_warps / bytes_per_warp(run));
  run.walk = shared_walk(operation, width, passes);
  Axes more{{"SMs", std::int64_t{sms}},
            {"warps per SM", std::int64_t{of_sm * shared_warps}},
            {"loads in flight", std::int64_t{shared_loads(operation)}}};
  if (!own) more.emplace_back("cluster size", std::int64_t{cluster_size});
  Case c = make_case("level", own ? "shared" : "distributed shared", operation,
                     instruction(operation, !own), width, more,
                     quick_if(width == 16 && (own || operation == Operation::load)));
  c.bound =
      sm_bound(device, sms, bound,
               own ? "shared memory's data stage" : "shared memory's data stage in the other SM");
  c.extras = {{"sm_bound_bytes_per_clock", bound}};
  // Besides the timed part: filling and saving 32 KiB of each block.
  const double wavefronts = bytes_per_warp(run) * shared_warps * run.blocks / 128 /
                            (operation == Operation::copy ? 2 : 1);
  const char* model = "one wavefront for each 128 bytes; filling and saving are left out";
  for (const auto& [name, other] :
       {std::pair{"load", Operation::store}, {"store", Operation::load}}) {
    if (!own || operation == other) continue;
    c.counters.push_back({fmt::format("shared_{}_wavefronts", name), wavefronts, 0.01, model});
    c.counters.push_back({fmt::format("shared_{}_conflicts", name)});
  }
  c.prepare = report_workload([=](Context& context) { return prepare(context, run, passes); });
  return c;
}

}  // namespace

std::vector<Case> shared_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  const auto add = [&](int width, int cluster_size, int blocks) {
    for (const Operation operation : {Operation::load, Operation::store, Operation::copy})
      result.push_back(shared_case(device, operation, width, cluster_size, blocks));
  };
  for (const int width : {16, 8, 4}) add(width, 1, device.sms * blocks_per_sm);
  for (const int size : {2, 4, 8, 16}) {
    const int blocks = cluster_blocks(device.major, size, one_block_shared_bytes(device));
    if (blocks == 0) continue;
    for (const int width : {16, 8, 4})
      if (width == 16 || size == 2) add(width, size, blocks);
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
