#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "harness/cuda_check.h"
#include "probes/device/launch.h"
#include "probes/topology/cases.h"
#include "probes/topology/kernels.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

// One SM at a time: its latency to each line of the L2, and its bandwidth beside each other SM.

namespace fathom::topology {
namespace {

/// One region for all of them, in device memory. Larger than what the pool moves from round to
/// round, so that line i is the same memory in all cases.
constexpr std::size_t region_bytes = BufferPool::small_bytes + (std::size_t{8} << 20);

/// Rounded so that a profile of hundreds of values stays short: two decimals.
double rounded(double value) { return std::round(value * 100) / 100; }

/// As %smid has them.
std::vector<int> numbers_of_sms(const DeviceFacts& device) {
  std::vector<int> all(static_cast<std::size_t>(device.sms));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// A launch for each task, the last one first, with one block on each SM: the shared memory that it
/// asks for leaves no room for a second. Tasks have reports in the first of the outputs, of which
/// `cleared` is zero before.
template <class Task, class Report, class Part, class Readings, class Check>
Workload one_by_one(Context& context, const std::vector<Task>& tasks, std::vector<Buffer> outputs,
                    Part Report::*cleared, void (*kernel)(Task, std::uint32_t), int threads,
                    const Check& check, const std::shared_ptr<Readings>& readings) {
  cudaStream_t stream = context.stream();
  const int shared = static_cast<int>(context.device().shared_bytes_per_block_max);
  resident_blocks_with(kernel, threads, shared);
  const Blocks grid{context.device().sms, threads, shared};
  const auto reports = [stream, buffer = outputs.front()] {
    return copy_to_host<Report>(buffer, stream);
  };
  Workload workload = workload_of(
      context, std::move(outputs),
      [=] {
        FATHOM_CUDA(cudaMemset2DAsync(&(tasks.front().report->*cleared), sizeof(Report), 0,
                                      sizeof(Part), tasks.size(), stream));
        for (auto task = tasks.rbegin(); task != tasks.rend(); ++task)
          launch(kernel, grid, stream, *task, 0u);
      },
      [=]() -> std::optional<std::string> {
        const std::vector<Report> all = reports();
        for (std::size_t t = 0; t < tasks.size(); ++t)
          if (auto wrong = check(all[t], tasks[t])) return wrong;
        return std::nullopt;
      });
  workload.read_sample = [=] { return readings->take(reports(), tasks); };
  workload.profile = [=] { return readings->profile(); };
  return workload;
}

/// Of one SM or of all, `smids`. `more`: the axes between instruction and SM.
Case make_case(const DeviceFacts& device, const char* sweep, const char* instruction,
               const Axes& more, const std::vector<int>& smids) {
  Case c;
  c.name = fmt::format("{}/{}", sweep, instruction);
  c.axes = {{"sweep", sweep}, {"instruction", instruction}};
  add_axes(c, more);
  const bool all = smids.size() > 1;
  add_axes(c, {{"SM", all ? AxisValue(all_sms) : std::int64_t{smids.front()}}});
  c.extras["sms"] = device.sms;
  return c;
}

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
  if (report.taken == 0) return fmt::format("no block ran on SM {}", task.smid);
  if (report.taken != 1 || report.smid != task.smid) {
    return fmt::format("{} blocks ran on SM {} instead of one, and SM {} reported", report.taken,
                       task.smid, report.smid);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < task.lines.count; ++i) sum += line_value(task.lines, i);
  sum *= static_cast<std::uint32_t>(task.repeats);
  if (report.sum != sum)
    return fmt::format("the words accessed sum to {:#x} instead of {:#x}", report.sum, sum);
  const std::uint32_t all = task.lines.count * static_cast<std::uint32_t>(task.repeats);
  const auto times = std::span(report.times).first(all);
  if (std::ranges::find(times, 0xFFFFFFFFu) != times.end()) return "an access reported no clocks";
  if (report.clock_end <= report.clock_begin) return "the kernel reported no clocks";
  return std::nullopt;
}

/// What the samples of one case have told, of one SM or of several.
class LineReadings {
 public:
  /// Mean latency over the SMs and lines, in cycles less those of an empty bracket.
  double take(const std::vector<LineReport>& reports, const std::vector<LineTask>& tasks) {
    latencies_.resize(tasks.size() * lines_of_set);
    double sum = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) sum += take_one(reports[t], t);
    return sum / static_cast<double>(latencies_.size());
  }

  std::vector<double> profile() const {
    std::vector<double> values;
    for (const auto& line : latencies_) values.push_back(rounded(interquartile_mean(line)));
    return values;
  }

  std::map<std::string, double> extras() const {
    std::map<std::string, double> result;
    if (nanoseconds_ > 0) result["sm_clock_hz"] = 1e9 * clocks_ / nanoseconds_;
    const std::vector<double> values = profile();
    if (values.empty()) return result;
    result["nearest_line"] = *std::ranges::min_element(values);
    result["farthest_line"] = *std::ranges::max_element(values);
    return result;
  }

 private:
  /// Sum over the lines.
  double take_one(const LineReport& report, std::size_t task) {
    const double empty = median(std::vector<double>(report.empty, report.empty + empty_brackets));
    double sum = 0;
    for (std::uint32_t i = 0; i < lines_of_set; ++i) {
      std::vector<double> sample;
      for (int r = 0; r < repeats; ++r)
        sample.push_back(report.times[r * lines_of_set + i] - empty);
      sum += interquartile_mean(sample);
      auto& all = latencies_[task * lines_of_set + i];
      all.insert(all.end(), sample.begin(), sample.end());
    }
    clocks_ += static_cast<double>(report.clock_end - report.clock_begin);
    nanoseconds_ += static_cast<double>(report.ns_end - report.ns_begin);
    return sum;
  }

  std::vector<std::vector<double>> latencies_;  ///< of each SM's lines, over all samples
  double clocks_ = 0, nanoseconds_ = 0;
};

Workload workload(Context& context, LineAccess access, int set, const std::vector<int>& smids,
                  const std::shared_ptr<LineReadings>& readings) {
  const Buffer region = context.buffers().output("lines", region_bytes);
  const Buffer buffer = context.buffers().output("line reports", sizeof(LineReport) * smids.size());
  std::vector<LineTask> tasks;
  for (const int sm : smids) {
    tasks.push_back({lines_in(region, set), repeats, static_cast<std::uint32_t>(sm),
                     buffer.as<LineReport>() + tasks.size()});
  }
  launch(write_lines, {1, int{lines_of_set}}, context.stream(), tasks.front().lines);
  Workload workload = one_by_one(context, tasks, {buffer}, &LineReport::taken, line_kernel(access),
                                 latency_threads, check, readings);
  workload.extras = [=] { return readings->extras(); };
  return workload;
}

Case latency_case(const DeviceFacts& device, LineAccess access, int set,
                  const std::vector<int>& smids) {
  Case c = make_case(device, latency_sweep,
                     access == LineAccess::load ? load_instruction : atomic_instruction,
                     {{"lines", set_names[set]}}, smids);
  c.suite = quick_if(access == LineAccess::load);
  c.metric = {"latency", "cycles", Better::lower, std::nullopt};
  c.precision = latency_precision;
  c.profile_axis = smids.size() > 1 ? "SM by SM, L2 line" : "L2 line";
  c.profile_unit = "cycles";
  const auto readings = std::make_shared<LineReadings>();
  c.prepare = [=](Context& context) { return workload(context, access, set, smids, readings); };
  return c;
}

Case case_of_sm(const DeviceFacts& device, LineAccess access, int sm) {
  Case c = latency_case(device, access, 0, {sm});
  // No L2 hit rate: where an access passes through both partitions of the L2, each counts a
  // look-up.
  if (access != LineAccess::load || sm % counted_every != 0) return c;
  c.counters = {{"global_load_sectors", lines_of_set * double(repeats + warm_passes), 0,
                 "one sector for each load of the one SM"},
                {"l1_hit_rate"}};
  return c;
}

constexpr std::uint32_t slice_bytes = 64 * 1024;
constexpr int passes = 2;
constexpr double timed_bytes = double(slice_bytes) * passes;
static_assert(std::size_t{slice_bytes} * max_sms <= region_bytes);

constexpr Precision contention_precision{
    .relative_half_width = 0.05, .min_samples = 3, .time_limit_s = 0.05};

/// The words of the victim's slice that loads add up in all turns.
std::uint32_t loaded_sum(const ContentionTask& task) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < task.slice_bytes / 16; ++i) sum += 4 * stored_value(task.victim, i);
  return sum * static_cast<std::uint32_t>(task.passes) * task.partners;
}

std::optional<std::string> check_turns(const ContentionReport& report, Traffic traffic,
                                       const ContentionTask& task) {
  if (report.turn.failed != 0) {
    return fmt::format("SM {} kept SM {} waiting, or no block ran on it", report.turn.failed - 1,
                       task.victim);
  }
  if (report.turn.step != turn_end) return fmt::format("no block ran on SM {}", task.victim);
  const std::uint32_t sum = traffic == Traffic::load ? loaded_sum(task) : 0;
  if (report.sum != sum)
    return fmt::format("the words loaded sum to {:#x} instead of {:#x}", report.sum, sum);
  for (std::uint32_t i = 0; i < task.partners; ++i)
    if (report.clocks[i] <= 0) return fmt::format("the turn of SM {} reported no clocks", i);
  return std::nullopt;
}

/// All of the victim's slice, and the first word of the partners'.
std::optional<std::string> check_stores(const ContentionTask& task, cudaStream_t stream) {
  const Buffer slice{task.base + std::uint64_t{task.victim} * task.slice_bytes, task.slice_bytes};
  if (auto wrong = check_elements<std::uint32_t>(
          slice, stream, fmt::format("in the slice of SM {}, word", task.victim),
          [&](std::size_t i) {
            return stored_value(task.victim, static_cast<std::uint32_t>(i / 4));
          }))
    return wrong;
  std::vector<std::uint32_t> firsts(task.partners);
  FATHOM_CUDA(cudaMemcpy2DAsync(firsts.data(), sizeof(std::uint32_t), task.base, task.slice_bytes,
                                sizeof(std::uint32_t), task.partners, cudaMemcpyDeviceToHost,
                                stream));
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  for (std::uint32_t sm = 0; sm < task.partners; ++sm)
    if (firsts[sm] != stored_value(sm, 0)) return fmt::format("SM {} has stored nothing", sm);
  return std::nullopt;
}

/// Bandwidths of one victim or several beside each SM, over the samples taken.
class TurnReadings {
 public:
  /// Median beside another SM, in bytes per clock.
  double take(const std::vector<ContentionReport>& reports,
              const std::vector<ContentionTask>& tasks) {
    std::vector<double> beside_another;
    bandwidths_.resize(tasks.size() * tasks.front().partners);
    auto samples = bandwidths_.begin();
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (std::uint32_t i = 0; i < tasks[t].partners; ++i, ++samples) {
        samples->push_back(timed_bytes / static_cast<double>(reports[t].clocks[i]));
        if (i != tasks[t].victim || tasks[t].partners == 1)
          beside_another.push_back(samples->back());
      }
    }
    return median(beside_another);
  }

  std::vector<double> profile() const {
    std::vector<double> values;
    for (const auto& samples : bandwidths_) values.push_back(rounded(median(samples)));
    return values;
  }

 private:
  std::vector<std::vector<double>> bandwidths_;
};

Workload workload(Context& context, Traffic traffic, const std::vector<int>& victims,
                  const std::shared_ptr<TurnReadings>& readings) {
  cudaStream_t stream = context.stream();
  const Buffer region = context.buffers().output("lines", region_bytes);
  const Buffer buffer =
      context.buffers().output("contention reports", sizeof(ContentionReport) * victims.size());
  const int sms = context.device().sms;
  std::vector<ContentionTask> tasks;
  for (const int victim : victims) {
    tasks.push_back({region.data, slice_bytes, passes, static_cast<std::uint32_t>(sms),
                     static_cast<std::uint32_t>(victim),
                     buffer.as<ContentionReport>() + tasks.size()});
  }
  launch(write_slices, {sms, contention_threads}, stream, tasks.front());
  const bool stores = traffic == Traffic::store;
  std::vector<Buffer> outputs{buffer};
  if (stores) outputs.push_back({region.data, slice_bytes * static_cast<std::size_t>(sms)});
  return one_by_one(
      context, tasks, std::move(outputs), &ContentionReport::turn, contention_kernel(traffic),
      contention_threads,
      [=](const ContentionReport& report, const ContentionTask& task) {
        auto wrong = check_turns(report, traffic, task);
        return wrong || !stores ? wrong : check_stores(task, stream);
      },
      readings);
}

Case contention_case(const DeviceFacts& device, Traffic traffic, const std::vector<int>& victims) {
  Case c = make_case(device, contention_sweep,
                     traffic == Traffic::load ? load_instruction : store_instruction, {}, victims);
  c.metric = {"bandwidth beside another SM", "B/clk", Better::higher, std::nullopt};
  c.precision = contention_precision;
  c.profile_axis = victims.size() > 1 ? "SM by SM, other SM" : "other SM";
  c.profile_unit = "B/clk";
  const auto readings = std::make_shared<TurnReadings>();
  c.prepare = [=](Context& context) { return workload(context, traffic, victims, readings); };
  return c;
}

}  // namespace

std::vector<Case> latency_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const LineAccess access : {LineAccess::load, LineAccess::atomic_add}) {
    for (const int sm : numbers_of_sms(device)) result.push_back(case_of_sm(device, access, sm));
    // Other lines, in one case, since nobody looks at them, and in the other order of SMs, so that
    // no drift could look like a place.
    result.push_back(latency_case(device, access, 1, numbers_of_sms(device)));
  }
  return result;
}

std::vector<Case> contention_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  if (device.sms > static_cast<int>(max_sms)) return result;
  for (const int sm : numbers_of_sms(device))
    result.push_back(contention_case(device, Traffic::store, {sm}));
  // Where there are clusters to tell TPCs by, stores alone show whether a TPC's SMs share a port.
  if (device.major < 9)
    result.push_back(contention_case(device, Traffic::load, numbers_of_sms(device)));
  return result;
}

}  // namespace fathom::topology
