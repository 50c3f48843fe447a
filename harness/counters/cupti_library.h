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

#define FATHOM_CUPTI_FUNCTIONS(F)              \
  F(cuptiGetVersion)                           \
  F(cuptiGetResultString)                      \
  F(cuptiDeviceGetChipName)                    \
  F(cuptiProfilerInitialize)                   \
  F(cuptiProfilerDeviceSupported)              \
  F(cuptiProfilerGetCounterAvailability)       \
  F(cuptiProfilerHostInitialize)               \
  F(cuptiProfilerHostDeinitialize)             \
  F(cuptiProfilerHostGetSupportedChips)        \
  F(cuptiProfilerHostConfigAddMetrics)         \
  F(cuptiProfilerHostGetConfigImageSize)       \
  F(cuptiProfilerHostGetConfigImage)           \
  F(cuptiProfilerHostGetNumOfPasses)           \
  F(cuptiProfilerHostEvaluateToGpuValues)      \
  F(cuptiRangeProfilerEnable)                  \
  F(cuptiRangeProfilerDisable)                 \
  F(cuptiRangeProfilerSetConfig)               \
  F(cuptiRangeProfilerStart)                   \
  F(cuptiRangeProfilerStop)                    \
  F(cuptiRangeProfilerPushRange)               \
  F(cuptiRangeProfilerPopRange)                \
  F(cuptiRangeProfilerDecodeData)              \
  F(cuptiRangeProfilerGetCounterDataSize)      \
  F(cuptiRangeProfilerCounterDataImageInitialize) \
  F(cuptiPCSamplingEnable)                     \
  F(cuptiPCSamplingDisable)                    \
  F(cuptiPCSamplingStart)                      \
  F(cuptiPCSamplingStop)                       \
  F(cuptiPCSamplingGetData)                    \
  F(cuptiPCSamplingGetNumStallReasons)         \
  F(cuptiPCSamplingGetStallReasons)            \
  F(cuptiPCSamplingSetConfigurationAttribute)  \
  F(cuptiGetSassToSourceCorrelation)           \
  F(cuptiGetCubinCrc)                          \
  F(cuptiRegisterComputeCrcCallback)

#define FATHOM_CUPTI_MEMBER(function) decltype(&::function) function = nullptr;
  FATHOM_CUPTI_FUNCTIONS(FATHOM_CUPTI_MEMBER)
#undef FATHOM_CUPTI_MEMBER
};

/// Files that `cupti_library` tries, in order: FATHOM_CUPTI_DIR alone if it is set; else the folder
/// that the build found, CUDA_HOME, /usr/local/cuda, and the system loader's search path.
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
