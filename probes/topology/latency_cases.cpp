#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "harness/cuda_check.h"
#include "probes/topology/cases.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

namespace fathom::topology {
namespace {

constexpr std::uint32_t lines_of_set = 192;
constexpr int repeats = 8;
/// Few large pages: no access waits for a translation.
constexpr std::uint64_t set_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t set_distance = std::uint64_t{32} << 20;
/// Counters cost far more time than the measurement, and tell the same of every SM.
constexpr int counted_every = 16;

/// A sample is a mean over some 1500 accesses already.
constexpr Precision precision{.relative_half_width = 0.05, .min_samples = 3, .time_limit_s = 0.02};

Lines lines_in(const Buffer& region, int set) {
  Lines lines;
  lines.base = region.data + set * set_distance;
  lines.count = lines_of_set;
  lines.stride = set_bytes / lines_of_set / line_bytes * line_bytes;
  lines.seed = 0x70500u + static_cast<std::uint32_t>(set);
  return lines;
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
  if (report.sum != sum) {
    return fmt::format("the words accessed sum to {:#x} instead of {:#x}", report.sum, sum);
  }
  const std::uint32_t all = task.lines.count * static_cast<std::uint32_t>(task.repeats);
  const auto times = std::span(report.times).first(all);
  if (std::ranges::find(times, 0xFFFFFFFFu) != times.end()) return "an access reported no clocks";
  if (report.clock_end <= report.clock_begin) return "the kernel reported no clocks";
  return std::nullopt;
}

/// What the samples of one case have told.
class LineReadings {
 public:
  /// Mean latency over the lines, in cycles less those of an empty bracket.
  double take(const LineReport& report, const LineTask& task) {
    const double empty = median(std::vector<double>(report.empty, report.empty + empty_brackets));
    std::vector<std::vector<double>> sample(task.lines.count);
    latencies_.resize(task.lines.count);
    double sum = 0;
    for (std::uint32_t i = 0; i < task.lines.count; ++i) {
      for (int r = 0; r < task.repeats; ++r) {
        sample[i].push_back(report.times[r * task.lines.count + i] - empty);
      }
      sum += interquartile_mean(sample[i]);
      latencies_[i].insert(latencies_[i].end(), sample[i].begin(), sample[i].end());
    }
    clocks_ += static_cast<double>(report.clock_end - report.clock_begin);
    nanoseconds_ += static_cast<double>(report.ns_end - report.ns_begin);
    return sum / task.lines.count;
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
  std::vector<std::vector<double>> latencies_;  ///< of each line, over all samples
  double clocks_ = 0, nanoseconds_ = 0;
};

Workload workload(Context& context, LineAccess access, int set, int sm,
                  const std::shared_ptr<LineReadings>& readings) {
  cudaStream_t stream = context.stream();
  const Buffer region = context.buffers().output(region_name, region_bytes);
  const Buffer buffer = context.buffers().output("line report", sizeof(LineReport));
  LineTask task;
  task.lines = lines_in(region, set);
  task.repeats = repeats;
  task.smid = static_cast<std::uint32_t>(sm);
  task.report = buffer.as<LineReport>();
  launch_write_lines(task.lines, stream);
  const int blocks = context.device().sms;
  const int shared = static_cast<int>(context.device().shared_bytes_per_block_max);
  const auto report = [=] { return copy_to_host<LineReport>(buffer, stream).front(); };
  Workload workload;
  workload.launch = [=] {
    FATHOM_CUDA(cudaMemsetAsync(&task.report->taken, 0, sizeof task.report->taken, stream));
    launch_line_latencies(access, task, blocks, shared, stream);
  };
  workload.poison = [=, &context] { context.buffers().poison(buffer); };
  workload.verify = [=] { return check(report(), task); };
  workload.read_sample = [=] { return readings->take(report(), task); };
  workload.extras = [=] { return readings->extras(); };
  workload.profile = [=] { return readings->profile(); };
  return workload;
}

Case latency_case(const DeviceFacts& device, LineAccess access, int set, int sm) {
  const char* instruction = access == LineAccess::load ? load_instruction : atomic_instruction;
  Case c;
  c.name = fmt::format("latency/{}/lines:{}/SM:{}", instruction, set_names[set], sm);
  c.axes = {{"sweep", latency_sweep},
            {"instruction", instruction},
            {"lines", set_names[set]},
            {"SM", std::int64_t{sm}}};
  c.suite = access == LineAccess::load ? Suite::quick : Suite::standard;
  c.metric = {"latency", "cycles", Better::lower, std::nullopt};
  c.precision = precision;
  c.profile_axis = "L2 line";
  c.profile_unit = "cycles";
  c.extras["sms"] = device.sms;
  if (sm % counted_every == 0 && set == 0) {
    c.counters = {{"l2_hit_rate", std::nullopt, 0, ""}};
    if (access == LineAccess::load) {
      c.counters.insert(c.counters.begin(),
                        {"global_load_sectors", lines_of_set * double(repeats + warm_passes), 0,
                         "one sector for each load of the one SM"});
    }
  }
  const auto readings = std::make_shared<LineReadings>();
  c.prepare = [=](Context& context) { return workload(context, access, set, sm, readings); };
  return c;
}

}  // namespace

double rounded(double value) { return std::round(value * 100) / 100; }

std::vector<Case> latency_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const int set : {0, 1}) {
    for (const LineAccess access : {LineAccess::load, LineAccess::atomic_add}) {
      for (int i = 0; i < device.sms; ++i) {
        // The second time the other way round, so that no drift could look like a place.
        const int sm = set == 0 ? i : device.sms - 1 - i;
        result.push_back(latency_case(device, access, set, sm));
      }
    }
  }
  return result;
}

}  // namespace fathom::topology
