#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "harness/cases.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/topology/groups.h"
#include "probes/topology/kernels.h"
#include "results/statistics.h"

namespace fathom::topology {
namespace {

Blocks grid_of(const ClusterTask& task) {
  constexpr int threads = 32;
  allow_any_cluster(record_placement);
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(record_placement),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, task.shared_bytes));
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
    const int blocks = pairs ? blocks_wanted : blocks_wanted / 4 * blocks_per_sm;
    const ClusterTask task{size, blocks / size * size, shared_for_blocks(device, blocks_per_sm),
                           spread_clocks, (pairs ? 0x5000u : size) + half * 0x10000u};
    if (most_active_clusters(record_placement, grid_of(task)) == 0) return;
    Case& c = result.emplace_back();
    c.name = pairs ? pair_sweep : fmt::format("{}/size:{}", cluster_sweep, size);
    c.axes = {{"sweep", pairs ? pair_sweep : cluster_sweep}};
    if (!pairs) c.axes.emplace_back("cluster size", std::int64_t{size});
    add_axes(c, {{"blocks per SM", blocks_per_sm}, {"launches", set_names[half]}});
    if (pairs) {
      c.axes.emplace_back("SM", all_sms);
      c.metric = {"clusters with the most frequent partner", "%", Better::higher, std::nullopt};
      c.bound = Bound{100, "all clusters of an SM"};
      c.profile_axis = "SM by SM, other SM";
      c.profile_unit = "clusters";
    } else {
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
  // Alone on their SMs larger clusters join the same ones as smaller ones do.
  for (const std::uint32_t half : {0, 1}) {
    add(false, 2, 1, half);
    for (const int size : {2, 3, 4, 6, 8, 12, 16}) add(false, size, 4, half);
  }
  for (const std::uint32_t half : {0, 1}) add(true, 2, pair_blocks_per_sm, half);
  return result;
}

/// Larger than what the pool moves from round to round: line i is the same memory in all cases.
constexpr std::size_t region_bytes = BufferPool::small_bytes + (std::size_t{8} << 20);

constexpr std::uint32_t lines_of_set = 192;
constexpr int repeats = 8;
/// Few large pages: no access waits for a translation.
constexpr std::uint64_t set_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t set_distance = std::uint64_t{32} << 20;
/// Counters cost far more time than the measurement, and tell the same of every SM.
constexpr int counted_every = 48;

Lines lines_in(const Buffer& region, int set) {
  return {.base = region.data + set * set_distance,
          .count = lines_of_set,
          .stride = set_bytes / lines_of_set / line_bytes * line_bytes,
          .seed = 0x70500u + static_cast<std::uint32_t>(set)};
}

std::optional<std::string> check(const LineReport& report, const LineTask& task) {
  if (report.taken != 1 || report.smid != task.smid)
    return fmt::format("{} blocks ran on SM {} instead of one, and SM {} reported", report.taken,
                       task.smid, report.smid);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < task.lines.count; ++i) sum += line_value(task.lines, i);
  sum *= static_cast<std::uint32_t>(task.repeats);
  if (report.sum != sum)
    return fmt::format("the words accessed sum to {:#x} instead of {:#x}", report.sum, sum);
  const auto times = std::span(report.times).first(task.lines.count * task.repeats);
  if (std::ranges::find(times, 0xFFFFFFFFu) != times.end()) return "an access reported no clocks";
  return std::nullopt;
}

using LineReadings = std::vector<std::vector<double>>;

/// Mean latency over the SMs and lines, in cycles less those of an empty bracket.
double take(LineReadings& readings, const std::vector<LineReport>& reports) {
  readings.resize(reports.size() * lines_of_set);
  double sum = 0;
  auto of_line = readings.begin();
  for (const LineReport& report : reports) {
    const double empty = median(std::vector<double>(report.empty, report.empty + empty_brackets));
    for (std::uint32_t i = 0; i < lines_of_set; ++i, ++of_line) {
      std::vector<double> sample;
      for (int r = 0; r < repeats; ++r)
        sample.push_back(report.times[r * lines_of_set + i] - empty);
      sum += interquartile_mean(sample);
      of_line->insert(of_line->end(), sample.begin(), sample.end());
    }
  }
  return sum / static_cast<double>(readings.size());
}

std::vector<double> profile(const LineReadings& readings) {
  std::vector<double> values;
  // Two decimals: a profile of hundreds of values stays short.
  for (const auto& line : readings)
    values.push_back(std::round(interquartile_mean(line) * 100) / 100);
  return values;
}

/// A launch for each SM, the last one first, with one block on each SM by its shared memory.
Workload workload(Context& context, LineAccess access, int set, const std::vector<int>& smids,
                  const std::shared_ptr<LineReadings>& readings) {
  cudaStream_t stream = context.stream();
  const Buffer region = context.buffers().output("lines", region_bytes);
  const Buffer buffer = context.buffers().output("line reports", sizeof(LineReport) * smids.size());
  std::vector<LineTask> tasks;
  for (const int sm : smids)
    tasks.push_back({lines_in(region, set), repeats, static_cast<std::uint32_t>(sm),
                     buffer.as<LineReport>() + tasks.size()});
  launch(write_lines, {1, int{lines_of_set}}, stream, tasks.front().lines);
  const auto kernel = line_kernel(access);
  const int shared = static_cast<int>(context.device().shared_bytes_per_block_max);
  resident_blocks_with(kernel, latency_threads, shared);
  const Blocks grid{context.device().sms, latency_threads, shared};
  const auto reports = [=] { return copy_to_host<LineReport>(buffer, stream); };
  Workload workload = workload_of(
      context, {buffer},
      [=] {
        FATHOM_CUDA(cudaMemset2DAsync(&tasks.front().report->taken, sizeof(LineReport), 0,
                                      sizeof(LineReport::taken), tasks.size(), stream));
        for (auto task = tasks.rbegin(); task != tasks.rend(); ++task)
          launch(kernel, grid, stream, *task, 0u);
      },
      [=]() -> std::optional<std::string> {
        const std::vector<LineReport> all = reports();
        for (std::size_t t = 0; t < tasks.size(); ++t)
          if (auto wrong = check(all[t], tasks[t])) return wrong;
        return std::nullopt;
      });
  workload.read_sample = [=] { return take(*readings, reports()); };
  workload.profile = [=] { return profile(*readings); };
  workload.extras = [=]() -> std::map<std::string, double> {
    const std::vector<double> values = profile(*readings);
    if (values.empty()) return {};
    const auto [nearest, farthest] = std::ranges::minmax(values);
    return {{"nearest_line", nearest}, {"farthest_line", farthest}};
  };
  return workload;
}

Case latency_case(const DeviceFacts& device, LineAccess access, int set,
                  const std::vector<int>& smids) {
  const bool all = smids.size() > 1;
  const char* instruction = access == LineAccess::load ? load_instruction : atomic_instruction;
  Case c;
  c.name = fmt::format("{}/{}", latency_sweep, instruction);
  c.axes = {{"sweep", latency_sweep}, {"instruction", instruction}};
  add_axes(c, {{"lines", set_names[set]},
               {"SM", all ? AxisValue(all_sms) : std::int64_t{smids.front()}}});
  c.extras["sms"] = device.sms;
  c.suite = quick_if(access == LineAccess::load);
  c.metric = {"latency", "cycles", Better::lower, std::nullopt};
  // A sample is a mean over some 1500 accesses already.
  c.precision = Precision{.relative_half_width = 0.05, .min_samples = 3, .time_limit_s = 0.02};
  c.profile_axis = all ? "SM by SM, L2 line" : "L2 line";
  c.profile_unit = "cycles";
  c.prepare = [=, readings = std::make_shared<LineReadings>()](Context& context) {
    return workload(context, access, set, smids, readings);
  };
  // No L2 hit rate: both partitions that an access passes through count a look-up.
  if (!all && access == LineAccess::load && smids.front() % counted_every == 0)
    c.counters = {{"global_load_sectors", lines_of_set * double(repeats + warm_passes), 0,
                   "one sector for each load of the one SM"},
                  {"l1_hit_rate"}};
  return c;
}

std::vector<Case> latency_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  std::vector<int> all(static_cast<std::size_t>(device.sms));  // as %smid has them
  std::iota(all.begin(), all.end(), 0);
  for (const LineAccess access : {LineAccess::load, LineAccess::atomic_add}) {
    for (const int sm : all) result.push_back(latency_case(device, access, 0, {sm}));
    // Other lines in one case, and in the other order of SMs, so that no drift looks like a place.
    result.push_back(latency_case(device, access, 1, all));
  }
  return result;
}

const Probe probe{
    .name = "topology",
    .question =
        "Which SMs sit together in TPCs and GPCs, and how far is each line of the L2 from each of "
        "them?",
    .method =
        "One SM at work at a time, known by %smid: the clock around single accesses to 192 lines "
        "that the L2 holds, less the median of empty brackets, the interquartile mean over 24 "
        "accesses to a line. Loads (ld.global.cg) may find a copy on their side of the L2, atomics "
        "go to the line's home. SMs are grouped by the correlation of what an additive model of "
        "SMs and lines leaves, twice, with other lines and in the other order; the adjusted Rand "
        "index says how far both agree. GPCs, from compute capability 9.0 on: blocks of a cluster "
        "run on one GPC, so SMs that clusters have in common are in one; SMs that only clusters of "
        "two reach are put into one by their latencies. TPCs: how often clusters of two join two "
        "SMs.",
    .conclude = conclude,
    .cases = {cluster_cases, latency_cases}};

}  // namespace
}  // namespace fathom::topology

FATHOM_PROBE(fathom::topology::probe)
