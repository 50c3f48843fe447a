#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cuda_check.h"
#include "probes/topology/cases.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

namespace fathom::topology {
namespace {

constexpr std::uint32_t slice_bytes = 128 * 1024;
constexpr int passes = 2;
constexpr double timed_bytes = double(slice_bytes) * passes;
static_assert(std::size_t{slice_bytes} * max_sms <= region_bytes);

constexpr Precision precision{.relative_half_width = 0.05, .min_samples = 3, .time_limit_s = 0.05};

/// The words of the victim's slice that loads add up in all turns.
std::uint32_t loaded_sum(const ContentionTask& task) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < task.slice_bytes / 16; ++i) {
    sum += 4 * stored_value(task.victim, i);
  }
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
  if (report.sum != sum) {
    return fmt::format("the words loaded sum to {:#x} instead of {:#x}", report.sum, sum);
  }
  for (std::uint32_t i = 0; i < task.partners; ++i) {
    if (report.clocks[i] <= 0) return fmt::format("the turn of SM {} reported no clocks", i);
  }
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
  for (std::uint32_t sm = 0; sm < task.partners; ++sm) {
    if (firsts[sm] != stored_value(sm, 0)) return fmt::format("SM {} has stored nothing", sm);
  }
  return std::nullopt;
}

/// The victim's bandwidth beside each SM, over the samples taken.
class TurnReadings {
 public:
  /// Alone, in bytes per clock.
  double take(const ContentionReport& report, const ContentionTask& task) {
    bandwidths_.resize(task.partners);
    for (std::uint32_t i = 0; i < task.partners; ++i) {
      bandwidths_[i].push_back(timed_bytes / static_cast<double>(report.clocks[i]));
    }
    return bandwidths_[task.victim].back();
  }

  std::vector<double> profile() const {
    std::vector<double> values;
    for (const auto& samples : bandwidths_) values.push_back(rounded(median(samples)));
    return values;
  }

 private:
  std::vector<std::vector<double>> bandwidths_;
};

Workload workload(Context& context, Traffic traffic, int sm,
                  const std::shared_ptr<TurnReadings>& readings) {
  cudaStream_t stream = context.stream();
  const Buffer region = context.buffers().output(region_name, region_bytes);
  const Buffer buffer = context.buffers().output("contention report", sizeof(ContentionReport));
  const int sms = context.device().sms;
  const int shared = static_cast<int>(context.device().shared_bytes_per_block_max);
  ContentionTask task;
  task.base = region.data;
  task.slice_bytes = slice_bytes;
  task.passes = passes;
  task.partners = static_cast<std::uint32_t>(sms);
  task.victim = static_cast<std::uint32_t>(sm);
  task.report = buffer.as<ContentionReport>();
  launch_write_slices(task, task.partners, stream);
  const auto report = [=] { return copy_to_host<ContentionReport>(buffer, stream).front(); };
  Workload workload;
  workload.launch = [=] {
    FATHOM_CUDA(cudaMemsetAsync(&task.report->turn, 0, sizeof task.report->turn, stream));
    launch_contention(traffic, task, sms, shared, stream);
  };
  workload.poison = [=, &context] {
    context.buffers().poison(buffer);
    if (traffic == Traffic::load) return;
    FATHOM_CUDA(
        cudaMemsetAsync(task.base, 0xFF, std::size_t{task.slice_bytes} * task.partners, stream));
  };
  workload.verify = [=]() -> std::optional<std::string> {
    if (auto wrong = check_turns(report(), traffic, task)) return wrong;
    if (traffic == Traffic::load) return std::nullopt;
    return check_stores(task, stream);
  };
  workload.read_sample = [=] { return readings->take(report(), task); };
  workload.profile = [=] { return readings->profile(); };
  return workload;
}

Case contention_case(const DeviceFacts& device, Traffic traffic, int sm) {
  const char* instruction = traffic == Traffic::load ? load_instruction : store_instruction;
  Case c;
  c.name = fmt::format("contention/{}/SM:{}", instruction, sm);
  c.axes = {{"sweep", contention_sweep}, {"instruction", instruction}, {"SM", std::int64_t{sm}}};
  c.metric = {"bandwidth of the SM alone", "B/clk", Better::higher, std::nullopt};
  c.precision = precision;
  c.profile_axis = "other SM";
  c.profile_unit = "B/clk";
  c.extras["sms"] = device.sms;
  const auto readings = std::make_shared<TurnReadings>();
  c.prepare = [=](Context& context) { return workload(context, traffic, sm, readings); };
  return c;
}

}  // namespace

std::vector<Case> contention_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  const auto sms = std::min(device.sms, static_cast<int>(max_sms));
  for (const Traffic traffic : {Traffic::store, Traffic::load}) {
    for (int sm = 0; sm < sms; ++sm) result.push_back(contention_case(device, traffic, sm));
  }
  return result;
}

}  // namespace fathom::topology
