#include "harness/counters/metric_host.h"

#include "harness/counters/cupti_library.h"

namespace fathom {

std::vector<const char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  for (const std::string& string : strings) pointers.push_back(string.c_str());
  return pointers;
}

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

}  // namespace fathom
