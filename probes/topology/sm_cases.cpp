#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "harness/cases.h"
#include "harness/cuda_check.h"
#include "probes/device/launch.h"
#include "probes/topology/groups.h"
#include "probes/topology/kernels.h"
#include "results/statistics.h"

// One SM at a time: its latency to each line of the L2.

namespace fathom::topology {
namespace {

/// One region for all of them, in device memory. Larger than what the pool moves from round to
/// round, so that line i is the same memory in all cases.
constexpr std::size_t region_bytes = BufferPool::small_bytes + (std::size_t{8} << 20);

constexpr std::uint32_t lines_of_set = 192;
constexpr int repeats = 8;
/// Few large pages: no access waits for a translation.
constexpr std::uint64_t set_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t set_distance = std::uint64_t{32} << 20;
/// Counters cost far more time than the measurement, and tell the same of every SM.
constexpr int counted_every = 48;

/// A sample is a mean over some 1500 accesses already.
constexpr Precision latency_precision{
    .relative_half_width = 0.05, .min_samples = 3, .time_limit_s = 0.02};

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

/// All samples of each SM's lines, of one SM or of several, one after the other.
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

/// A launch for each SM, the last one first, with one block on each SM: the shared memory that it
/// asks for leaves no room for a second.
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

/// `smids`: one SM, or all.
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
  c.precision = latency_precision;
  c.profile_axis = all ? "SM by SM, L2 line" : "L2 line";
  c.profile_unit = "cycles";
  const auto readings = std::make_shared<LineReadings>();
  c.prepare = [=](Context& context) { return workload(context, access, set, smids, readings); };
  // No L2 hit rate: where an access passes through both partitions of the L2, each counts a
  // look-up.
  if (!all && access == LineAccess::load && smids.front() % counted_every == 0)
    c.counters = {{"global_load_sectors", lines_of_set * double(repeats + warm_passes), 0,
                   "one sector for each load of the one SM"},
                  {"l1_hit_rate"}};
  return c;
}

}  // namespace

std::vector<Case> latency_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  std::vector<int> all(static_cast<std::size_t>(device.sms));  // as %smid has them
  std::iota(all.begin(), all.end(), 0);
  for (const LineAccess access : {LineAccess::load, LineAccess::atomic_add}) {
    for (const int sm : all) result.push_back(latency_case(device, access, 0, {sm}));
    // Other lines, in one case, since nobody looks at them, and in the other order of SMs, so that
    // no drift could look like a place.
    result.push_back(latency_case(device, access, 1, all));
  }
  return result;
}

}  // namespace fathom::topology
