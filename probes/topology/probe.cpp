#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "probes/claims.h"
#include "probes/topology/cases.h"
#include "probes/topology/clustering.h"
#include "probes/topology/kernels.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

// Which SMs clusters join, and how often each two SMs share a cluster of two blocks.

namespace fathom::topology {
namespace {

constexpr std::uint32_t spread_clocks = 20'000;  // some ten times what starting a block takes

/// Clusters with room for so many blocks on each SM: 1 or more.
ClusterTask cluster_task(const DeviceFacts& device, int cluster_size, int blocks,
                         int blocks_per_sm) {
  const std::size_t shared_bytes = blocks_per_sm == 1 ? device.shared_bytes_per_block_max
                                                      : device.shared_bytes_per_sm / blocks_per_sm -
                                                            device.reserved_shared_bytes_per_block;
  return {cluster_size, blocks / cluster_size * cluster_size, static_cast<int>(shared_bytes)};
}

/// Nothing if each block ran in its own cluster on one of `sms` SMs, else what is wrong.
std::optional<std::string> check_placements(const std::vector<Placement>& placements,
                                            int cluster_size, int sms) {
  for (std::size_t b = 0; b < placements.size(); ++b) {
    const std::size_t cluster = b / static_cast<std::size_t>(cluster_size);
    if (placements[b].cluster != cluster) {
      return fmt::format("block {} reports cluster {} instead of {}", b, placements[b].cluster,
                         cluster);
    }
    if (placements[b].smid >= static_cast<std::uint32_t>(sms)) {
      return fmt::format("block {} ran on SM {} of {}: they are not numbered in one piece", b,
                         placements[b].smid, sms);
    }
  }
  return std::nullopt;
}

constexpr int blocks_wanted = 8192;
constexpr Precision cluster_precision{
    .relative_half_width = 0.05, .min_samples = 6, .time_limit_s = 0.02};

/// What all cases have: launches one after the other in the stream, so that each finds the GPU
/// idle.
template <class Readings>
Case make_case(const DeviceFacts& device, const ClusterTask& wanted, int launches) {
  Case c;
  c.suite = Suite::quick;
  c.precision = cluster_precision;
  c.extras["sms"] = device.sms;
  const int sms = device.sms;
  const auto readings = std::make_shared<Readings>(sms);
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    ClusterTask task = wanted;
    const Buffer buffer = context.buffers().output(
        "placements", sizeof(Placement) * static_cast<std::size_t>(task.blocks * launches));
    task.placements = buffer.as<Placement>();
    const auto placements = [=] { return copy_to_host<Placement>(buffer, stream); };
    Workload workload = workload_of(
        context, {buffer},
        [=] {
          for (int i = 0; i < launches; ++i) {
            ClusterTask wave = task;
            wave.placements += i * task.blocks;
            launch_clusters(wave, stream);
          }
        },
        [=]() -> std::optional<std::string> {
          const std::vector<Placement> all = placements();
          for (auto wave = all.begin(); wave != all.end(); wave += task.blocks)
            if (auto wrong = check_placements({wave, wave + task.blocks}, task.cluster_size, sms))
              return wrong;
          return std::nullopt;
        });
    workload.read_sample = [=] { return readings->take(placements()); };
    workload.extras = [=] { return readings->extras(); };
    workload.profile = [=] { return readings->profile(); };
    return workload;
  };
  return c;
}

/// Which SMs clusters have joined in all samples.
class ClusterReadings {
 public:
  explicit ClusterReadings(int sms) : sms_(static_cast<std::size_t>(sms)) {}

  /// Groups of SMs that clusters join so far; those that no block ran on are alone.
  double take(const std::vector<Placement>& placements) {
    std::map<std::uint32_t, std::uint32_t> first_of_cluster;
    for (const Placement& p : placements) {
      seen_.insert(p.smid);
      const std::uint32_t first = first_of_cluster.try_emplace(p.cluster, p.smid).first->second;
      joined_.emplace(first, p.smid);
    }
    return number_of_groups(labels());
  }

  /// For each SM the lowest one that clusters join it with.
  std::vector<double> profile() const {
    std::vector<double> lowest(sms_);
    for (const auto& group : members(labels()))
      for (const std::size_t sm : group) lowest[sm] = static_cast<double>(group.front());
    return lowest;
  }

  std::map<std::string, double> extras() const {
    return {{"sms_seen", static_cast<double>(seen_.size())}};
  }

 private:
  Labels labels() const {
    const std::vector<std::pair<std::size_t, std::size_t>> pairs(joined_.begin(), joined_.end());
    return connected(sms_, pairs);
  }

  std::size_t sms_;
  std::set<std::uint32_t> seen_;
  std::set<std::pair<std::size_t, std::size_t>> joined_;
};

Case cluster_case(const DeviceFacts& device, const ClusterTask& task, int blocks_per_sm,
                  const char* half) {
  Case c = make_case<ClusterReadings>(device, task, 1);
  c.name = fmt::format("clusters/size:{}/blocks-per-SM:{}/launches:{}", task.cluster_size,
                       blocks_per_sm, half);
  c.axes = {{"sweep", cluster_sweep},
            {"cluster size", std::int64_t{task.cluster_size}},
            {"blocks per SM", std::int64_t{blocks_per_sm}},
            {"launches", half}};
  c.metric = {"groups of SMs that clusters join", "groups", Better::lower, std::nullopt};
  c.profile_axis = "SM";
  c.profile_unit = "lowest SM of the group";
  if (device.major == 9 && device.sms == 132) {
    c.extras[published_gpcs] = 8;
    c.extras[published_tpcs] = 66;
  }
  return c;
}

constexpr int pair_size = 2;
constexpr int waves = 24;  // of a sample, where each grid is one wave on an idle GPU
/// Several times what starting all blocks takes, so that none finds an SM that is free again.
constexpr std::uint32_t first_wave_clocks = 10'000;
constexpr int later_blocks = 8192;

/// Clusters that each two SMs have shared in all samples.
class PairReadings {
 public:
  explicit PairReadings(int sms) : sms_(static_cast<std::size_t>(sms)), counts_(sms_ * sms_) {}

  /// Share of an SM's clusters so far that it had with its most frequent partner, in percent:
  /// median over the SMs that had any.
  double take(const std::vector<Placement>& placements) {
    for (std::size_t b = 0; b + 1 < placements.size(); b += pair_size) {
      const std::size_t first = placements[b].smid, second = placements[b + 1].smid;
      ++counts_[first * sms_ + second];
      if (first != second) ++counts_[second * sms_ + first];
    }
    std::vector<double> shares;
    for (auto row = counts_.begin(); row != counts_.end(); row += std::ptrdiff_t(sms_)) {
      double all = 0;
      for (auto count = row; count != row + std::ptrdiff_t(sms_); ++count) all += *count;
      if (all > 0) shares.push_back(100 * *std::max_element(row, row + std::ptrdiff_t(sms_)) / all);
    }
    return median(shares);
  }

  std::vector<double> profile() const { return counts_; }
  std::map<std::string, double> extras() const { return {}; }

 private:
  std::size_t sms_;
  std::vector<double> counts_;  ///< of SM i with SM j: [i * sms + j], both ways
};

Case pair_case(const DeviceFacts& device, const ClusterTask& task, int launches, int blocks_per_sm,
               const char* half) {
  Case c = make_case<PairReadings>(device, task, launches);
  c.name = fmt::format("pairs/blocks-per-SM:{}/launches:{}", blocks_per_sm, half);
  c.axes = {{"sweep", pair_sweep},
            {"blocks per SM", std::int64_t{blocks_per_sm}},
            {"launches", half},
            {"SM", all_sms}};
  c.metric = {"clusters with the most frequent partner", "%", Better::higher, std::nullopt};
  c.bound = Bound{100, "all clusters of an SM"};
  c.profile_axis = "SM by SM, other SM";
  c.profile_unit = "clusters";
  return c;
}

}  // namespace

std::vector<Case> cluster_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const std::uint32_t half : {0, 1}) {
    for (const int blocks_per_sm : {1, 4}) {
      for (const int size : {2, 3, 4, 6, 8, 12, 16}) {
        // Alone on their SMs larger clusters join the same ones as smaller ones do.
        if (blocks_per_sm == 1 && size > 2) break;
        ClusterTask task =
            cluster_task(device, size, blocks_wanted / 4 * blocks_per_sm, blocks_per_sm);
        task.spread_clocks = spread_clocks;
        task.seed = static_cast<std::uint32_t>(size) + half * 0x10000u;
        if (most_active_clusters(device.major, task) == 0) continue;
        result.push_back(cluster_case(device, task, blocks_per_sm, set_names[half]));
      }
    }
  }
  return result;
}

std::vector<Case> pair_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const std::uint32_t half : {0, 1}) {
    ClusterTask first_wave = cluster_task(device, pair_size, device.sms, 1);
    first_wave.shortest_clocks = first_wave_clocks;
    ClusterTask later = cluster_task(device, pair_size, later_blocks, 4);
    later.spread_clocks = spread_clocks;
    later.seed = 0x5000u + half * 0x10000u;
    if (const int active = most_active_clusters(device.major, first_wave); active > 0) {
      first_wave.blocks = std::min(first_wave.blocks, active * pair_size);
      result.push_back(pair_case(device, first_wave, waves, 1, set_names[half]));
    }
    if (most_active_clusters(device.major, later) > 0)
      result.push_back(pair_case(device, later, 1, 4, set_names[half]));
  }
  return result;
}

namespace {

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
        "each two SMs, in first waves on an idle GPU and where several blocks share an SM; and an "
        "SM streams through its own slice of the L2 with each other SM doing the same beside it, "
        "one at a time, in case SMs of a TPC share a port.",
    .conclude = conclude,
    .cases = {cluster_cases, pair_cases, latency_cases, contention_cases}};

}  // namespace
}  // namespace fathom::topology

FATHOM_PROBE(fathom::topology::probe)
