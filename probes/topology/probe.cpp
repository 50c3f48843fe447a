#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "harness/cases.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/topology/groups.h"
#include "probes/topology/kernels.h"
#include "results/statistics.h"

// Which SMs clusters join, and how often each two SMs share a cluster of two blocks.

namespace fathom::topology {
namespace {

Blocks grid_of(const ClusterTask& task) {
  constexpr int threads = 32;
  allow_any_cluster(record_placement);
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(record_placement),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   task.shared_bytes));
  return {task.blocks, threads, task.shared_bytes, task.cluster_size};
}

/// How often each two SMs shared a cluster, in all samples of a case.
struct Readings {
  std::size_t sms;
  std::vector<double> counts = std::vector<double>(sms * sms);  ///< [i * sms + j], both ways

  /// The first block's SM with that of each other one in its cluster.
  void take(const std::vector<Placement>& placements, std::size_t cluster_size) {
    for (std::size_t b = 0; b < placements.size(); ++b) {
      if (b % cluster_size == 0) continue;
      const std::size_t first = placements[b - b % cluster_size].smid, other = placements[b].smid;
      ++counts[first * sms + other];
      if (first != other) ++counts[other * sms + first];
    }
  }

  /// Shares of each SM's clusters that it had with its most frequent partner, in percent, of the
  /// SMs that had any.
  std::vector<double> shares() const {
    std::vector<double> shares;
    for (std::size_t sm = 0; sm < sms; ++sm) {
      const auto row = std::span(counts).subspan(sm * sms, sms);
      if (const double all = std::accumulate(row.begin(), row.end(), 0.0); all > 0)
        shares.push_back(100 * std::ranges::max(row) / all);
    }
    return shares;
  }

  /// SMs that clusters join; those that no block ran on are alone.
  std::vector<Members> groups() const {
    Pairs joined;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) joined.emplace_back(i / sms, i % sms);
    return members(connected(sms, joined));
  }
};

/// `pairs`: how often SMs share clusters is asked for, else which ones do.
Workload workload(Context& context, ClusterTask task, bool pairs,
                  const std::shared_ptr<Readings>& readings) {
  cudaStream_t stream = context.stream();
  const std::size_t size = task.cluster_size;
  const Buffer buffer = context.buffers().output("placements", sizeof(Placement) * task.blocks);
  task.placements = buffer.as<Placement>();
  const auto placements = [=] { return copy_to_host<Placement>(buffer, stream); };
  Workload workload = workload_of(
      context, {buffer}, [=] { launch(record_placement, grid_of(task), stream, task); },
      [=]() -> std::optional<std::string> {
        const std::vector<Placement> found = placements();
        for (std::size_t b = 0; b < found.size(); ++b)
          if (const Placement& p = found[b]; p.cluster != b / size || p.smid >= readings->sms)
            return fmt::format("block {} of clusters of {} reports cluster {} and SM {} of {}", b,
                               size, p.cluster, p.smid, readings->sms);
        return std::nullopt;
      });
  workload.read_sample = [=] {
    readings->take(placements(), size);
    return pairs ? median(readings->shares()) : static_cast<double>(readings->groups().size());
  };
  workload.profile = [=] {
    if (pairs) return readings->counts;
    std::vector<double> lowest(readings->sms);  // that clusters join each SM with
    for (const Members& group : readings->groups())
      for (const std::size_t sm : group) lowest[sm] = static_cast<double>(group.front());
    return lowest;
  };
  if (!pairs)
    workload.extras = [=] {
      return std::map{std::pair{std::string("sms_seen"), double(readings->shares().size())}};
    };
  return workload;
}

std::vector<Case> cluster_cases(const DeviceFacts& device) {
  constexpr int blocks_wanted = 8192;
  constexpr std::uint32_t spread_clocks = 20'000;  // some ten times what starting a block takes
  std::vector<Case> result;
  if (device.major < 9) return result;  // there are no clusters
  const auto add = [&](bool pairs, int size, int blocks_per_sm, std::uint32_t half) {
    const std::size_t shared_bytes =
        blocks_per_sm == 1
            ? device.shared_bytes_per_block_max
            : device.shared_bytes_per_sm / blocks_per_sm - device.reserved_shared_bytes_per_block;
    const int blocks = pairs ? blocks_wanted : blocks_wanted / 4 * blocks_per_sm;
    const ClusterTask task{size, blocks / size * size, static_cast<int>(shared_bytes),
                           spread_clocks, (pairs ? 0x5000u : size) + half * 0x10000u};
    if (most_active_clusters(record_placement, grid_of(task)) == 0) return;
    Case& c = result.emplace_back();
    const Axes more{{"blocks per SM", std::int64_t{blocks_per_sm}}, {"launches", set_names[half]}};
    if (pairs) {
      c.name = pair_sweep;
      c.axes = {{"sweep", pair_sweep}};
      add_axes(c, more);
      c.axes.emplace_back("SM", all_sms);
      c.metric = {"clusters with the most frequent partner", "%", Better::higher, std::nullopt};
      c.bound = Bound{100, "all clusters of an SM"};
      c.profile_axis = "SM by SM, other SM";
      c.profile_unit = "clusters";
    } else {
      c.name = fmt::format("{}/size:{}", cluster_sweep, size);
      c.axes = {{"sweep", cluster_sweep}, {"cluster size", std::int64_t{size}}};
      add_axes(c, more);
      c.metric = {"groups of SMs that clusters join", "groups", Better::lower, std::nullopt};
      c.profile_axis = "SM";
      c.profile_unit = "lowest SM of the group";
    }
    c.suite = Suite::quick;
    c.precision = Precision{.relative_half_width = 0.05, .min_samples = 6, .time_limit_s = 0.02};
    c.extras["sms"] = device.sms;
    c.prepare = [=, readings = std::make_shared<Readings>(Readings{std::size_t(device.sms)})](
                    Context& context) { return workload(context, task, pairs, readings); };
  };
  // Which SMs clusters join. Alone on their SMs larger clusters join the same ones as smaller ones
  // do.
  for (const std::uint32_t half : {0, 1}) {
    add(false, 2, 1, half);
    for (const int size : {2, 3, 4, 6, 8, 12, 16}) add(false, size, 4, half);
  }
  // How often clusters of two join each two SMs.
  for (const std::uint32_t half : {0, 1}) add(true, 2, pair_blocks_per_sm, half);
  return result;
}

const Probe probe{
    .name = "topology",
    .question =
        "Which SMs sit together in TPCs and GPCs, and how far is each line of the L2 from each of "
        "them?",
    .method =
        "One block on each SM, known by %smid, and only the SM in question at work: the clock "
        "before and after single accesses to each of 192 lines that the L2 holds, less the median "
        "of empty brackets, the interquartile mean over 24 accesses to a line. Loads "
        "(ld.global.cg) may find a copy on their side of the L2, atomics go to the line's home. "
        "From the matrix of SMs and lines the means of its rows and columns are taken away; SMs "
        "are then grouped by the correlation of what is left (average linkage, the cut with the "
        "widest silhouette). All of it twice, with other lines and in the other order; the "
        "adjusted Rand index of both groupings says how far they agree. GPCs, from compute "
        "capability 9.0 on: all blocks of a cluster run on one GPC, so SMs that clusters of any "
        "size have in common are in one; SMs that only clusters of two reach are put into one by "
        "their latencies, where those agree on the others. TPCs: how often clusters of two join "
        "each two SMs where several blocks share an SM.",
    .conclude = conclude,
    .cases = {cluster_cases, latency_cases}};

}  // namespace
}  // namespace fathom::topology

FATHOM_PROBE(fathom::topology::probe)
