#pragma once

#include <cuda.h>
// After cuda.h, which CUPTI's headers need.
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fathom {

/// The CUPTI functions that Fathom calls, loaded at run time: a machine without CUPTI must still
/// measure times, so nothing links it. A function that an older libcupti lacks makes it unusable.
struct CuptiLibrary {
  std::filesystem::path path;  ///< the file it was loaded from, as it was searched for
  unsigned version = 0;        ///< e.g. 130001

  decltype(&::cuptiGetVersion) cuptiGetVersion = nullptr;
  decltype(&::cuptiGetResultString) cuptiGetResultString = nullptr;
  decltype(&::cuptiDeviceGetChipName) cuptiDeviceGetChipName = nullptr;
  decltype(&::cuptiProfilerInitialize) cuptiProfilerInitialize = nullptr;
  decltype(&::cuptiProfilerDeviceSupported) cuptiProfilerDeviceSupported = nullptr;
  decltype(&::cuptiProfilerGetCounterAvailability) cuptiProfilerGetCounterAvailability = nullptr;
  decltype(&::cuptiProfilerHostInitialize) cuptiProfilerHostInitialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) cuptiProfilerHostDeinitialize = nullptr;
  decltype(&::cuptiProfilerHostGetSupportedChips) cuptiProfilerHostGetSupportedChips = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) cuptiProfilerHostConfigAddMetrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) cuptiProfilerHostGetConfigImageSize = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) cuptiProfilerHostGetConfigImage = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) cuptiProfilerHostGetNumOfPasses = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) cuptiProfilerHostEvaluateToGpuValues = nullptr;
  decltype(&::cuptiRangeProfilerEnable) cuptiRangeProfilerEnable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) cuptiRangeProfilerDisable = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) cuptiRangeProfilerSetConfig = nullptr;
  decltype(&::cuptiRangeProfilerStart) cuptiRangeProfilerStart = nullptr;
  decltype(&::cuptiRangeProfilerStop) cuptiRangeProfilerStop = nullptr;
  decltype(&::cuptiRangeProfilerPushRange) cuptiRangeProfilerPushRange = nullptr;
  decltype(&::cuptiRangeProfilerPopRange) cuptiRangeProfilerPopRange = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) cuptiRangeProfilerDecodeData = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) cuptiRangeProfilerGetCounterDataSize = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize)
      cuptiRangeProfilerCounterDataImageInitialize = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) cuptiRangeProfilerGetCounterDataInfo = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataGetRangeInfo) cuptiRangeProfilerCounterDataGetRangeInfo =
      nullptr;
  decltype(&::cuptiPCSamplingEnable) cuptiPCSamplingEnable = nullptr;
  decltype(&::cuptiPCSamplingDisable) cuptiPCSamplingDisable = nullptr;
  decltype(&::cuptiPCSamplingStart) cuptiPCSamplingStart = nullptr;
  decltype(&::cuptiPCSamplingStop) cuptiPCSamplingStop = nullptr;
  decltype(&::cuptiPCSamplingGetData) cuptiPCSamplingGetData = nullptr;
  decltype(&::cuptiPCSamplingGetNumStallReasons) cuptiPCSamplingGetNumStallReasons = nullptr;
  decltype(&::cuptiPCSamplingGetStallReasons) cuptiPCSamplingGetStallReasons = nullptr;
  decltype(&::cuptiPCSamplingSetConfigurationAttribute) cuptiPCSamplingSetConfigurationAttribute =
      nullptr;
  decltype(&::cuptiGetSassToSourceCorrelation) cuptiGetSassToSourceCorrelation = nullptr;
  decltype(&::cuptiGetCubinCrc) cuptiGetCubinCrc = nullptr;
  decltype(&::cuptiRegisterComputeCrcCallback) cuptiRegisterComputeCrcCallback = nullptr;
};

/// Files that `cupti_library` tries, in the order of `toolkit_library_files`; the variable that names
/// a folder is FATHOM_CUPTI_DIR.
std::vector<std::filesystem::path> cupti_search_path();

/// Loads CUPTI from the first of `files` that has every function. Throws
/// CounterError(no_library) naming what was tried.
CuptiLibrary load_cupti(const std::vector<std::filesystem::path>& files);

/// The program's CUPTI, loaded on first use and kept: unloading it would leave its hooks in the
/// driver dangling. Throws CounterError(no_library), each time.
const CuptiLibrary& cupti_library();

/// Throws CounterError if `result` is a failure of `call`.
void check_cupti(CUptiResult result, const char* call);

}  // namespace fathom
