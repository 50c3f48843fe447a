#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cuda_check.h"
#include "probes/topology/cases.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

// How often each two SMs share a cluster of two blocks.

namespace fathom::topology {
namespace {

constexpr int cluster_size = 2;
constexpr int waves = 24;  // of a sample, where each grid is one wave on an idle GPU
/// Several times what starting all blocks takes, so that none finds an SM that is free again.
constexpr std::uint32_t first_wave_clocks = 10'000;
constexpr int later_blocks = 8192;
constexpr std::uint32_t later_spread_clocks = 20'000;

constexpr Precision pair_precision{
    .relative_half_width = 0.05, .min_samples = 6, .time_limit_s = 0.02};

/// Clusters that each two SMs have shared in all samples.
class PairReadings {
 public:
  explicit PairReadings(int sms) : sms_(static_cast<std::size_t>(sms)), counts_(sms_ * sms_) {}

  /// Share of an SM's clusters so far that it had with its most frequent partner, in percent:
  /// median over the SMs that had any.
  double take(const std::vector<Placement>& placements) {
    for (std::size_t b = 0; b + 1 < placements.size(); b += cluster_size) {
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

 private:
  std::size_t sms_;
  std::vector<double> counts_;  ///< of SM i with SM j: [i * sms + j], both ways
};

Workload workload(Context& context, ClusterTask task, int launches,
                  const std::shared_ptr<PairReadings>& readings) {
  cudaStream_t stream = context.stream();
  const Buffer buffer = context.buffers().output(
      "placements", sizeof(Placement) * static_cast<std::size_t>(task.blocks * launches));
  task.placements = buffer.as<Placement>();
  const int sms = context.device().sms;
  const auto placements = [=] { return copy_to_host<Placement>(buffer, stream); };
  Workload workload;
  workload.launch = [=] {
    // One after the other in the stream: each finds the GPU idle.
    for (int i = 0; i < launches; ++i) {
      ClusterTask wave = task;
      wave.placements += i * task.blocks;
      launch_clusters(wave, stream);
    }
  };
  workload.poison = poisoning(context, {buffer});
  workload.verify = [=]() -> std::optional<std::string> {
    const std::vector<Placement> all = placements();
    for (auto wave = all.begin(); wave != all.end(); wave += task.blocks)
      if (auto wrong = check_placements({wave, wave + task.blocks}, cluster_size, sms))
        return wrong;
    return std::nullopt;
  };
  workload.read_sample = [=] { return readings->take(placements()); };
  workload.profile = [=] { return readings->profile(); };
  return workload;
}

Case pair_case(const DeviceFacts& device, const ClusterTask& task, int launches, int blocks_per_sm,
               const char* half) {
  Case c;
  c.name = fmt::format("pairs/blocks-per-SM:{}/launches:{}", blocks_per_sm, half);
  c.axes = {{"sweep", pair_sweep},
            {"blocks per SM", std::int64_t{blocks_per_sm}},
            {"launches", half},
            {"SM", all_sms}};
  c.suite = Suite::quick;
  c.metric = {"clusters with the most frequent partner", "%", Better::higher, std::nullopt};
  c.bound = Bound{100, "all clusters of an SM"};
  c.precision = pair_precision;
  c.profile_axis = "SM by SM, other SM";
  c.profile_unit = "clusters";
  c.extras["sms"] = device.sms;
  const auto readings = std::make_shared<PairReadings>(device.sms);
  c.prepare = [=](Context& context) { return workload(context, task, launches, readings); };
  return c;
}

}  // namespace

std::vector<Case> pair_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const std::uint32_t half : {0, 1}) {
    ClusterTask first_wave = cluster_task(device, cluster_size, device.sms, 1);
    first_wave.shortest_clocks = first_wave_clocks;
    ClusterTask later = cluster_task(device, cluster_size, later_blocks, 4);
    later.spread_clocks = later_spread_clocks;
    later.seed = 0x5000u + half * 0x10000u;
    if (const int active = most_active_clusters(device.major, first_wave); active > 0) {
      first_wave.blocks = std::min(first_wave.blocks, active * cluster_size);
      result.push_back(pair_case(device, first_wave, waves, 1, set_names[half]));
    }
    if (most_active_clusters(device.major, later) > 0)
      result.push_back(pair_case(device, later, 1, 4, set_names[half]));
  }
  return result;
}

}  // namespace fathom::topology
