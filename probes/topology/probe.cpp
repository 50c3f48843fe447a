#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "harness/cases.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/topology/clustering.h"
#include "probes/topology/kernels.h"
#include "probes/topology/names.h"
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

/// Nothing if each block ran in its own cluster on one of `sms` SMs, else what is wrong.
std::optional<std::string> check_placements(const std::vector<Placement>& placements,
                                            int cluster_size, int sms) {
  for (std::size_t b = 0; b < placements.size(); ++b) {
    const std::size_t cluster = b / static_cast<std::size_t>(cluster_size);
    if (placements[b].cluster != cluster)
      return fmt::format("block {} reports cluster {} instead of {}", b, placements[b].cluster,
                         cluster);
    if (placements[b].smid >= static_cast<std::uint32_t>(sms))
      return fmt::format("block {} ran on SM {} of {}: they are not numbered in one piece", b,
                         placements[b].smid, sms);
  }
  return std::nullopt;
}

/// How often each two SMs shared a cluster, in all samples.
struct Readings {
  std::size_t sms;
  std::vector<double> counts = std::vector<double>(sms * sms);  ///< [i * sms + j], both ways

  /// The first block's SM with that of each other one in its cluster.
  void take(const std::vector<Placement>& placements, int cluster_size) {
    const auto size = static_cast<std::size_t>(cluster_size);
    for (std::size_t b = 0; b < placements.size(); ++b) {
      if (b % size == 0) continue;
      const std::size_t first = placements[b - b % size].smid, other = placements[b].smid;
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
  std::vector<std::vector<std::size_t>> groups() const {
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
  const Buffer buffer = context.buffers().output(
      "placements", sizeof(Placement) * static_cast<std::size_t>(task.blocks));
  task.placements = buffer.as<Placement>();
  const auto placements = [=] { return copy_to_host<Placement>(buffer, stream); };
  Workload workload = workload_of(
      context, {buffer}, [=] { launch(record_placement, grid_of(task), stream, task); },
      [=, sms = context.device().sms] {
        return check_placements(placements(), task.cluster_size, sms);
      });
  workload.read_sample = [=] {
    readings->take(placements(), task.cluster_size);
    return pairs ? median(readings->shares()) : static_cast<double>(readings->groups().size());
  };
  workload.profile = [=] {
    if (pairs) return readings->counts;
    std::vector<double> lowest(readings->sms);  // that clusters join each SM with
    for (const auto& group : readings->groups())
      for (const std::size_t sm : group) lowest[sm] = static_cast<double>(group.front());
    return lowest;
  };
  if (!pairs)
    workload.extras = [=] {
      return std::map{std::pair{std::string("sms_seen"), double(readings->shares().size())}};
    };
  return workload;
}

Case make_case(const DeviceFacts& device, const ClusterTask& task, int blocks_per_sm,
               const char* half, bool pairs) {
  Case c;
  c.name = pairs ? pair_sweep : fmt::format("{}/size:{}", cluster_sweep, task.cluster_size);
  c.name += fmt::format("/blocks-per-SM:{}/launches:{}", blocks_per_sm, half);
  c.axes = {{"sweep", pairs ? pair_sweep : cluster_sweep}};
  if (!pairs) c.axes.emplace_back("cluster size", std::int64_t{task.cluster_size});
  c.axes.insert(c.axes.end(), {{"blocks per SM", std::int64_t{blocks_per_sm}}, {"launches", half}});
  c.metric = {"groups of SMs that clusters join", "groups", Better::lower, std::nullopt};
  c.profile_axis = "SM";
  c.profile_unit = "lowest SM of the group";
  if (pairs) {
    c.axes.emplace_back("SM", all_sms);
    c.metric = {"clusters with the most frequent partner", "%", Better::higher, std::nullopt};
    c.bound = Bound{100, "all clusters of an SM"};
    c.profile_axis = "SM by SM, other SM";
    c.profile_unit = "clusters";
  }
  c.suite = Suite::quick;
  c.precision = Precision{.relative_half_width = 0.05, .min_samples = 6, .time_limit_s = 0.02};
  c.extras["sms"] = device.sms;
  c.prepare = [=, readings = std::make_shared<Readings>(Readings{std::size_t(device.sms)})](
                  Context& context) { return workload(context, task, pairs, readings); };
  return c;
}

std::vector<Case> cluster_cases(const DeviceFacts& device) {
  constexpr int blocks_wanted = 8192;
  constexpr std::uint32_t spread_clocks = 20'000;  // some ten times what starting a block takes
  std::vector<Case> result;
  if (device.major < 9) return result;  // there are no clusters
  const auto add = [&](int size, int blocks, int blocks_per_sm, std::uint32_t seed,
                       std::uint32_t half, bool pairs) {
    const std::size_t shared_bytes =
        blocks_per_sm == 1
            ? device.shared_bytes_per_block_max
            : device.shared_bytes_per_sm / blocks_per_sm - device.reserved_shared_bytes_per_block;
    const ClusterTask task{size, blocks / size * size, static_cast<int>(shared_bytes),
                           spread_clocks, seed + half * 0x10000u};
    if (most_active_clusters(record_placement, grid_of(task)) > 0)
      result.push_back(make_case(device, task, blocks_per_sm, set_names[half], pairs));
  };
  // Which SMs clusters join.
  for (const std::uint32_t half : {0, 1}) {
    for (const int blocks_per_sm : {1, 4}) {
      for (const int size : {2, 3, 4, 6, 8, 12, 16}) {
        // Alone on their SMs larger clusters join the same ones as smaller ones do.
        if (blocks_per_sm == 1 && size > 2) break;
        add(size, blocks_wanted / 4 * blocks_per_sm, blocks_per_sm,
            static_cast<std::uint32_t>(size), half, false);
      }
    }
  }
  // How often clusters of two join each two SMs.
  for (const std::uint32_t half : {0, 1})
    add(2, blocks_wanted, pair_blocks_per_sm, 0x5000u, half, true);
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
