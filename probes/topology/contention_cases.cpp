#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cuda_check.h"
#include "probes/topology/cases.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

namespace fathom::topology {
namespace {

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
  const std::uint32_t words = task.slice_bytes / 4;
  const auto slice = copy_to_host<std::uint32_t>(
      task.base + std::uint64_t{task.victim} * task.slice_bytes, words, stream);
  for (std::uint32_t i = 0; i < words; ++i) {
    if (slice[i] != stored_value(task.victim, i / 4)) {
      return fmt::format("word {} of the slice of SM {} is {:#x} instead of {:#x}", i, task.victim,
                         slice[i], stored_value(task.victim, i / 4));
    }
  }
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
  const Buffer region = context.buffers().output(region_name, region_bytes);
  const Buffer buffer =
      context.buffers().output("contention reports", sizeof(ContentionReport) * victims.size());
  const int sms = context.device().sms;
  const int shared = static_cast<int>(context.device().shared_bytes_per_block_max);
  std::vector<ContentionTask> tasks;
  for (const int victim : victims) {
    ContentionTask task;
    task.base = region.data;
    task.slice_bytes = slice_bytes;
    task.passes = passes;
    task.partners = static_cast<std::uint32_t>(sms);
    task.victim = static_cast<std::uint32_t>(victim);
    task.report = buffer.as<ContentionReport>() + tasks.size();
    tasks.push_back(task);
  }
  launch_write_slices(tasks.front(), static_cast<std::uint32_t>(sms), stream);
  const auto reports = [=] { return copy_to_host<ContentionReport>(buffer, stream); };
  Workload workload;
  workload.launch = [=] {
    FATHOM_CUDA(cudaMemset2DAsync(&tasks.front().report->turn, sizeof(ContentionReport), 0,
                                  sizeof(Turn), tasks.size(), stream));
    for (const ContentionTask& task : tasks) launch_contention(traffic, task, sms, shared, stream);
  };
  workload.poison = [=, &context] {
    context.buffers().poison(buffer);
    if (traffic == Traffic::load) return;
    FATHOM_CUDA(cudaMemsetAsync(region.data, 0xFF,
                                std::size_t{slice_bytes} * static_cast<std::size_t>(sms), stream));
  };
  workload.verify = [=]() -> std::optional<std::string> {
    const std::vector<ContentionReport> all = reports();
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (auto wrong = check_turns(all[t], traffic, tasks[t])) return wrong;
      if (traffic == Traffic::load) continue;
      if (auto wrong = check_stores(tasks[t], stream)) return wrong;
    }
    return std::nullopt;
  };
  workload.read_sample = [=] { return readings->take(reports(), tasks); };
  workload.profile = [=] { return readings->profile(); };
  return workload;
}

Case contention_case(const DeviceFacts& device, Traffic traffic, const AxisValue& sm,
                     const std::vector<int>& victims) {
  const char* instruction = traffic == Traffic::load ? load_instruction : store_instruction;
  Case c;
  c.name = fmt::format("contention/{}/SM:{}", instruction,
                       victims.size() > 1 ? all_sms : fmt::to_string(victims.front()));
  c.axes = {{"sweep", contention_sweep}, {"instruction", instruction}, {"SM", sm}};
  c.metric = {"bandwidth beside another SM", "B/clk", Better::higher, std::nullopt};
  c.precision = contention_precision;
  c.profile_axis = victims.size() > 1 ? "SM by SM, other SM" : "other SM";
  c.profile_unit = "B/clk";
  c.extras["sms"] = device.sms;
  const auto readings = std::make_shared<TurnReadings>();
  c.prepare = [=](Context& context) { return workload(context, traffic, victims, readings); };
  return c;
}

}  // namespace

std::vector<Case> contention_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  if (device.sms > static_cast<int>(max_sms)) return result;
  for (const int sm : numbers_of_sms(device))
    result.push_back(contention_case(device, Traffic::store, std::int64_t{sm}, {sm}));
  // Where there are clusters to tell TPCs by, stores alone show whether a TPC's SMs share a port.
  if (device.major < 9)
    result.push_back(contention_case(device, Traffic::load, all_sms, numbers_of_sms(device)));
  return result;
}

}  // namespace fathom::topology
