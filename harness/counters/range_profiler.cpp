#include "harness/counters/range_profiler.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/counters/cupti_device.h"
#include "harness/counters/cupti_library.h"
#include "harness/counters/metric_host.h"
#include "harness/cuda_check.h"

namespace fathom {
namespace {

/// Owns the device's range profiler.
class RangeProfiler {
 public:
  RangeProfiler() {
    CUpti_RangeProfiler_Enable_Params params{};
    params.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
    params.ctx = current_context();
    check_cupti(cupti_library().cuptiRangeProfilerEnable(&params), "cuptiRangeProfilerEnable");
    object_ = params.pRangeProfilerObject;
  }
  ~RangeProfiler() {
    CUpti_RangeProfiler_Disable_Params params{};
    params.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    cupti_library().cuptiRangeProfilerDisable(&params);
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  std::size_t counter_data_size(const std::vector<std::string>& metrics) const {
    std::vector<const char*> names = c_strings(metrics);
    CUpti_RangeProfiler_GetCounterDataSize_Params params{};
    params.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    params.pMetricNames = names.data();
    params.numMetrics = names.size();
    params.maxNumOfRanges = 1;
    params.maxNumRangeTreeNodes = 1;
    check_cupti(cupti_library().cuptiRangeProfilerGetCounterDataSize(&params),
                "cuptiRangeProfilerGetCounterDataSize");
    return params.counterDataSize;
  }

  /// Empties `counter_data` and begins a range's first pass. Both spans must outlive the range.
  void configure(std::span<const std::uint8_t> config, std::span<std::uint8_t> counter_data) const {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params image{};
    image.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
    image.pRangeProfilerObject = object_;
    image.counterDataSize = counter_data.size();
    image.pCounterData = counter_data.data();
    check_cupti(cupti_library().cuptiRangeProfilerCounterDataImageInitialize(&image),
                "cuptiRangeProfilerCounterDataImageInitialize");

    CUpti_RangeProfiler_SetConfig_Params params{};
    params.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    params.configSize = config.size();
    params.pConfig = config.data();
    params.counterDataImageSize = counter_data.size();
    params.pCounterDataImage = counter_data.data();
    params.range = CUPTI_UserRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = 1;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 1;
    check_cupti(cupti_library().cuptiRangeProfilerSetConfig(&params),
                "cuptiRangeProfilerSetConfig");
  }

  void start() const {
    CUpti_RangeProfiler_Start_Params params{};
    params.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    check_cupti(cupti_library().cuptiRangeProfilerStart(&params), "cuptiRangeProfilerStart");
  }

  void push() const {
    CUpti_RangeProfiler_PushRange_Params params{};
    params.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    params.pRangeName = "launch";
    check_cupti(cupti_library().cuptiRangeProfilerPushRange(&params),
                "cuptiRangeProfilerPushRange");
  }

  CUptiResult pop() const {
    CUpti_RangeProfiler_PopRange_Params params{};
    params.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    return cupti_library().cuptiRangeProfilerPopRange(&params);
  }

  /// Ends a pass; true if it was the last. Takes the result out instead of throwing because it also
  /// cleans up after a failed launch.
  std::pair<CUptiResult, bool> stop() const {
    CUpti_RangeProfiler_Stop_Params params{};
    params.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    const CUptiResult result = cupti_library().cuptiRangeProfilerStop(&params);
    return {result, params.isAllPassSubmitted != 0};
  }

  /// Returns how many ranges had no room.
  std::size_t decode() const {
    CUpti_RangeProfiler_DecodeData_Params params{};
    params.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    check_cupti(cupti_library().cuptiRangeProfilerDecodeData(&params),
                "cuptiRangeProfilerDecodeData");
    return params.numOfRangeDropped;
  }

 private:
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

/// Runs one pass over `launch`; true if it was the last.
bool run_pass(const RangeProfiler& profiler, const std::function<void()>& launch) {
  profiler.start();
  try {
    profiler.push();
    launch();
    FATHOM_CUDA(cudaGetLastError());
    FATHOM_CUDA(cudaDeviceSynchronize());
  } catch (...) {
    profiler.pop();
    profiler.stop();
    throw;
  }
  const CUptiResult popped = profiler.pop();
  const auto [stopped, last] = profiler.stop();
  check_cupti(popped, "cuptiRangeProfilerPopRange");
  check_cupti(stopped, "cuptiRangeProfilerStop");
  return last;
}

}  // namespace

struct CounterSession::State {
  std::string chip;
  std::map<std::string, CounterReading> readings;  ///< without values
  std::optional<MetricHost> host;
  std::vector<std::string> metric_roles;  ///< the role of each of the host's metrics
  std::vector<std::uint8_t> config, counter_data;
  std::size_t passes = 0;
  std::optional<RangeProfiler> profiler;
};

CounterAvailability CounterSession::probe(int device) {
  CounterAvailability result;
  try {
    initialise_profilers(device);
    result.problem = device_problem(device);
    result.sentence = fathom::sentence(result.problem);
    if (!result.ok()) return result;
    result.chip = chip_name(device);
    const std::vector<std::string> roles = {"instructions_executed"};
    CounterSession session(device, roles);
    // Starting a pass is what finds out about permissions and about other profilers.
    session.collect({}, [] {});
  } catch (const CounterError& error) {
    result.problem = error.problem();
    result.sentence = error.what();
  }
  return result;
}

CounterSession::CounterSession(int device, std::span<const std::string> roles)
    : state_(std::make_unique<State>()) {
  for (const std::string& name : roles) role(name);  // throws for an unknown one

  initialise_profilers(device);
  State& s = *state_;
  s.chip = chip_name(device);
  const std::vector<std::uint8_t> availability = counter_availability();
  s.host.emplace(s.chip, availability);
  std::vector<std::string> metrics;
  for (const std::string& name : roles) {
    if (s.readings.contains(name)) continue;
    const CatalogueEntry entry = find_metric(name, s.chip);
    if (entry.available()) metrics.push_back(entry.metric);
    s.readings[name] = {entry.metric, std::nullopt, entry.reason};
  }
  const std::vector<std::string> rejected = s.host->schedule(metrics);
  for (auto& [name, reading] : s.readings) {
    if (std::ranges::count(rejected, reading.metric) == 0) continue;
    reading.reason = fmt::format("unavailable on {}: CUPTI {} does not know {} there", s.chip,
                                 cupti_library().version, reading.metric);
  }
  // In the order of the metrics scheduled, which is that of their values.
  for (const std::string& metric : s.host->metrics()) {
    const auto found = std::ranges::find(s.readings, metric,
                                         [](const auto& entry) { return entry.second.metric; });
    s.metric_roles.push_back(found->first);
  }
  if (s.metric_roles.empty()) return;

  s.config = s.host->config_image();
  s.passes = MetricHost::passes(s.config);
  s.profiler.emplace();
  s.counter_data.resize(s.profiler->counter_data_size(s.host->metrics()));
}

CounterSession::~CounterSession() = default;

std::map<std::string, CounterReading> CounterSession::collect(const std::function<void()>& prepare,
                                                              const std::function<void()>& launch) {
  State& s = *state_;
  std::map<std::string, CounterReading> readings = s.readings;
  if (!s.profiler) return readings;

  s.profiler->configure(s.config, s.counter_data);
  bool last = false;
  for (std::size_t pass = 0; !last; ++pass) {
    if (pass == s.passes) {
      throw CounterError(CounterProblem::failed,
                         fmt::format("{} passes were not enough for the counters", pass));
    }
    if (prepare) prepare();
    FATHOM_CUDA(cudaDeviceSynchronize());
    last = run_pass(*s.profiler, launch);
  }
  if (s.profiler->decode() != 0) {
    throw CounterError(CounterProblem::failed, "the counter data had no room for the range");
  }

  const std::vector<double> values = s.host->evaluate(s.counter_data);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CounterReading& reading = readings[s.metric_roles[i]];
    if (std::isfinite(values[i])) {
      reading.value = values[i];
    } else {
      reading.reason = "undefined here: the metric divides by a count that was zero";
    }
  }
  return readings;
}

std::size_t CounterSession::passes() const { return state_->passes; }
const std::string& CounterSession::chip() const { return state_->chip; }

}  // namespace fathom
