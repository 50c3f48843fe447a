#include "harness/counters/range_profiler.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/counters/cupti_library.h"
#include "harness/cuda_check.h"

namespace fathom {
namespace {

// Starting and stopping a pass costs about 9 ms on an H200, a further range within it little: at
// this many the start is a small part. A chip whose counter data are large gets fewer.
constexpr std::size_t most_ranges = 512;
constexpr std::size_t most_counter_data = std::size_t{64} << 20;

/// Valid as long as `strings` are.
std::vector<const char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  for (const std::string& string : strings) pointers.push_back(string.c_str());
  return pointers;
}

/// The chip's name by CUPTI, "GH100".
std::string chip_name(int device) {
  FATHOM_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params,
                      .deviceIndex = static_cast<std::size_t>(device));
  FATHOM_CUPTI(cuptiDeviceGetChipName, params);
  return params.pChipName;
}

/// Which counters the device has free. Fails while a profiler is enabled on it.
std::vector<std::uint8_t> counter_availability() {
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params,
                      .ctx = current_context());
  FATHOM_CUPTI(cuptiProfilerGetCounterAvailability, params);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  FATHOM_CUPTI(cuptiProfilerGetCounterAvailability, params);
  return image;
}

/// Where each range of a decoded image lies in it, by the range's number, its name. CUPTI does not
/// promise the order in which the ranges were pushed.
std::vector<std::size_t> range_positions(std::span<const std::uint8_t> counter_data,
                                         std::size_t count) {
  FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info,
                      .pCounterDataImage = counter_data.data(),
                      .counterDataImageSize = counter_data.size());
  FATHOM_CUPTI(cuptiRangeProfilerGetCounterDataInfo, info);

  std::map<std::string, std::size_t> by_name;
  for (std::size_t position = 0; position < info.numTotalRanges; ++position) {
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, range,
                        .pCounterDataImage = counter_data.data(),
                        .counterDataImageSize = counter_data.size(), .rangeIndex = position,
                        .rangeDelimiter = "/");
    FATHOM_CUPTI(cuptiRangeProfilerCounterDataGetRangeInfo, range);
    by_name[range.rangeName] = position;
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = by_name.find(std::to_string(i));
    if (found == by_name.end())
      fail_counters(fmt::format("the counter data lacks range {} of {}", i, count));
    positions.push_back(found->second);
  }
  return positions;
}

}  // namespace

void MetricHost::Deleter::operator()(CUpti_Profiler_Host_Object* object) const {
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params, .pHostObject = object);
  cupti_library().cuptiProfilerHostDeinitialize(&params);
}

int MetricHost::add(const std::vector<std::string>& metrics) {
  // A fresh object each time: after one rejection CUPTI's object answers every further metric with
  // an unknown error.
  FATHOM_CUPTI_PARAMS(
      CUpti_Profiler_Host_Initialize_Params, made,
      .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER, .pChipName = chip_.c_str(),
      .pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data());
  FATHOM_CUPTI(cuptiProfilerHostInitialize, made);
  object_.reset(made.pHostObject);
  std::vector<const char*> names = c_strings(metrics);
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params,
                      .pHostObject = object_.get(), .ppMetricNames = names.data(),
                      .numMetrics = names.size());
  return cupti_library().cuptiProfilerHostConfigAddMetrics(&params);
}

std::vector<std::string> MetricHost::schedule(const std::vector<std::string>& metrics) {
  metrics_ = metrics;
  if (metrics.empty() || add(metrics) == CUPTI_SUCCESS) return {};

  std::vector<std::string> rejected;
  metrics_.clear();
  for (const std::string& metric : metrics) {
    const auto result = static_cast<CUptiResult>(add({metric}));
    // An unknown name comes back as either, depending on which part of it is unknown.
    if (result == CUPTI_ERROR_INVALID_METRIC_NAME || result == CUPTI_ERROR_INVALID_PARAMETER) {
      rejected.push_back(metric);
      continue;
    }
    check_cupti(result, "cuptiProfilerHostConfigAddMetrics");
    metrics_.push_back(metric);
  }
  if (!metrics_.empty())
    check_cupti(static_cast<CUptiResult>(add(metrics_)), "cuptiProfilerHostConfigAddMetrics");
  return rejected;
}

std::vector<std::uint8_t> MetricHost::config_image() const {
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size,
                      .pHostObject = object_.get());
  FATHOM_CUPTI(cuptiProfilerHostGetConfigImageSize, size);

  std::vector<std::uint8_t> image(size.configImageSize);
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, params,
                      .pHostObject = object_.get(), .configImageSize = image.size(),
                      .pConfigImage = image.data());
  FATHOM_CUPTI(cuptiProfilerHostGetConfigImage, params);
  return image;
}

std::size_t MetricHost::passes(std::span<const std::uint8_t> config_image) {
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, params,
                      .configImageSize = config_image.size());
  // The function only reads the image, although its parameter is not const.
  params.pConfigImage = const_cast<std::uint8_t*>(config_image.data());
  FATHOM_CUPTI(cuptiProfilerHostGetNumOfPasses, params);
  return params.numOfPasses;
}

std::map<std::string, double> MetricHost::evaluate(std::span<const std::uint8_t> counter_data,
                                                   std::size_t position) const {
  std::vector<const char*> names = c_strings(metrics_);
  std::vector<double> values(names.size());
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params,
                      .pHostObject = object_.get(), .pCounterDataImage = counter_data.data(),
                      .counterDataImageSize = counter_data.size(), .rangeIndex = position,
                      .ppMetricNames = names.data(), .numMetrics = names.size(),
                      .pMetricValues = values.data());
  FATHOM_CUPTI(cuptiProfilerHostEvaluateToGpuValues, params);
  std::map<std::string, double> by_metric;
  for (std::size_t i = 0; i < values.size(); ++i) by_metric[metrics_[i]] = values[i];
  return by_metric;
}

struct CounterSession::State {
  Readings readings;  ///< without values
  MetricHost host;
  std::vector<std::uint8_t> config, counter_data;
  std::size_t ranges = 0;  ///< that counter_data has room for
  std::size_t passes = 0;
  std::size_t largest_batch = 0;
  CUpti_RangeProfiler_Object* profiler = nullptr;  ///< null: the chip has none of the counters

  explicit State(const std::string& chip) : host(chip, counter_availability()) {}
  ~State() {
    if (profiler == nullptr) return;
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params,
                        .pRangeProfilerObject = profiler);
    cupti_library().cuptiRangeProfilerDisable(&params);
  }

  std::size_t counter_data_size(std::size_t count) const {
    std::vector<const char*> names = c_strings(host.metrics());
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params,
                        .pRangeProfilerObject = profiler, .pMetricNames = names.data(),
                        .numMetrics = names.size(), .maxNumOfRanges = count,
                        .maxNumRangeTreeNodes = static_cast<std::uint32_t>(count));
    FATHOM_CUPTI(cuptiRangeProfilerGetCounterDataSize, params);
    return params.counterDataSize;
  }

  /// Who runs the work again for each pass.
  enum class Replay { by_caller, by_cupti };

  /// Empties the counter data, makes room for `count` ranges and begins their first pass. Those of
  /// CUPTI's replay are the kernels launched, by their number.
  void configure(std::size_t count, Replay replay) {
    if (count != ranges) counter_data.resize(counter_data_size(count));
    ranges = count;
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image,
                        .pRangeProfilerObject = profiler, .counterDataSize = counter_data.size(),
                        .pCounterData = counter_data.data());
    FATHOM_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, image);

    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params,
                        .pRangeProfilerObject = profiler, .configSize = config.size(),
                        .pConfig = config.data(), .counterDataImageSize = counter_data.size(),
                        .pCounterDataImage = counter_data.data());
    const bool by_cupti = replay == Replay::by_cupti;
    params.range = by_cupti ? CUPTI_AutoRange : CUPTI_UserRange;
    params.replayMode = by_cupti ? CUPTI_KernelReplay : CUPTI_UserReplay;
    params.maxRangesPerPass = count;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = by_cupti ? 0 : 1;
    FATHOM_CUPTI(cuptiRangeProfilerSetConfig, params);
  }

  void start() const {
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params, .pRangeProfilerObject = profiler);
    FATHOM_CUPTI(cuptiRangeProfilerStart, params);
  }

  CUptiResult pop() const {
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, params,
                        .pRangeProfilerObject = profiler);
    return cupti_library().cuptiRangeProfilerPopRange(&params);
  }

  /// Ends a pass; true if it was the last. Takes the result out instead of throwing because it also
  /// cleans up after a failed launch.
  std::pair<CUptiResult, bool> stop() const {
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params, .pRangeProfilerObject = profiler);
    const CUptiResult result = cupti_library().cuptiRangeProfilerStop(&params);
    return {result, params.isAllPassSubmitted != 0};
  }

  /// Fills the counter data.
  void decode() const {
    FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params,
                        .pRangeProfilerObject = profiler);
    FATHOM_CUPTI(cuptiRangeProfilerDecodeData, params);
    if (params.numOfRangeDropped != 0)
      fail_counters(fmt::format("the counter data had no room for {} of {} ranges",
                                params.numOfRangeDropped, ranges));
  }

  /// Runs one pass over the ranges, each of a launch from `first` on; true if it was the last pass.
  bool run_pass(const Step& prepare, std::size_t first, const Step& launch) const {
    start();
    bool in_range = false;
    try {
      for (std::size_t i = 0; i < ranges; ++i) {
        if (prepare) prepare(first + i);
        FATHOM_CUDA(cudaDeviceSynchronize());
        const std::string name = std::to_string(i);
        FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params,
                            .pRangeProfilerObject = profiler, .pRangeName = name.c_str());
        FATHOM_CUPTI(cuptiRangeProfilerPushRange, params);
        in_range = true;
        launch(first + i);
        FATHOM_CUDA(cudaGetLastError());
        FATHOM_CUDA(cudaDeviceSynchronize());
        in_range = false;
        check_cupti(pop(), "cuptiRangeProfilerPopRange");
      }
    } catch (...) {
      if (in_range) pop();
      stop();
      throw;
    }
    const auto [stopped, last] = stop();
    check_cupti(stopped, "cuptiRangeProfilerStop");
    return last;
  }

  void run_batch(const Step& prepare, std::size_t first, std::size_t count, const Step& launch) {
    configure(count, Replay::by_caller);
    for (std::size_t pass = 0; !run_pass(prepare, first, launch);)
      if (++pass == passes)
        fail_counters(fmt::format("{} passes were not enough for the counters", pass));
    decode();
  }

  /// The readings of the range at `position`.
  Readings read(std::size_t position) const {
    Readings result = readings;
    const std::map<std::string, double> values = host.evaluate(counter_data, position);
    for (auto& [role, reading] : result) {
      const auto value = values.find(reading.metric);
      if (value == values.end()) continue;
      if (std::isfinite(value->second))
        reading.value = value->second;
      else
        reading.reason = "undefined here: the metric divides by a count that was zero";
    }
    return result;
  }
};

std::string CounterSession::problem_on(int device) {
  try {
    const std::vector<std::string> roles = {"instructions_executed"};
    // Starting a pass is what finds out about permissions and about other profilers.
    CounterSession(device, roles).collect({}, [] {});
    return {};
  } catch (const CounterError& error) {
    return error.what();
  }
}

CounterSession::CounterSession(int device, std::span<const std::string> roles) {
  initialise_profilers(device);
  const std::string chip = chip_name(device);
  state_ = std::make_unique<State>(chip);
  State& s = *state_;
  std::vector<std::string> metrics;
  for (const std::string& name : roles) {
    const std::string metric = find_metric(name, chip);
    if (s.readings.try_emplace(name, CounterReading{metric}).second) metrics.push_back(metric);
  }
  const std::vector<std::string> rejected = s.host.schedule(metrics);
  for (auto& [name, reading] : s.readings) {
    if (std::ranges::count(rejected, reading.metric) > 0)
      reading.reason = fmt::format("unavailable on {}: CUPTI {} does not know {} there", chip,
                                   cupti_library().version, reading.metric);
  }
  if (s.host.metrics().empty()) return;

  s.config = s.host.config_image();
  s.passes = MetricHost::passes(s.config);
  FATHOM_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params, .ctx = current_context());
  FATHOM_CUPTI(cuptiRangeProfilerEnable, params);
  s.profiler = params.pRangeProfilerObject;
  s.largest_batch = most_ranges;
  while (s.largest_batch > 1 && s.counter_data_size(s.largest_batch) > most_counter_data)
    s.largest_batch /= 2;
}

CounterSession::~CounterSession() = default;

CounterSession::Readings CounterSession::collect(const std::function<void()>& prepare,
                                                 const std::function<void()>& launch) {
  Step prepare_one;
  if (prepare) prepare_one = [&](std::size_t) { prepare(); };
  return collect_batch(prepare_one, 1, [&](std::size_t) { launch(); }).front();
}

std::vector<CounterSession::Readings> CounterSession::collect_batch(const Step& prepare,
                                                                    std::size_t count,
                                                                    const Step& launch) {
  State& s = *state_;
  if (!s.profiler) return std::vector<Readings>(count, s.readings);
  std::vector<Readings> result;
  result.reserve(count);
  for (std::size_t first = 0; first < count; first += s.largest_batch) {
    const std::size_t ranges = std::min(s.largest_batch, count - first);
    s.run_batch(prepare, first, ranges, launch);
    for (const std::size_t position : range_positions(s.counter_data, ranges))
      result.push_back(s.read(position));
  }
  return result;
}

void CounterSession::begin_kernel() {
  State& s = *state_;
  if (!s.profiler) fail_counters("the chip has none of the counters");
  s.configure(1, State::Replay::by_cupti);
  s.start();
}

CounterSession::Readings CounterSession::end_kernel() {
  State& s = *state_;
  check_cupti(s.stop().first, "cuptiRangeProfilerStop");
  s.decode();
  return s.read(0);
}

std::size_t CounterSession::largest_batch() const { return state_->largest_batch; }
std::size_t CounterSession::passes() const { return state_->passes; }

}  // namespace fathom
