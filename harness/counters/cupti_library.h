#pragma once

#include <cuda.h>
// After cuda.h, which CUPTI's headers need.
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/counters/catalogue.h"

namespace fathom {

// clang-format off
#define FATHOM_CUPTI_FUNCTIONS(F) \
  F(cuptiGetVersion) F(cuptiGetResultString) F(cuptiDeviceGetChipName) \
  F(cuptiProfilerInitialize) \
  F(cuptiProfilerGetCounterAvailability) F(cuptiProfilerHostInitialize) \
  F(cuptiProfilerHostDeinitialize) F(cuptiProfilerHostGetSupportedChips) \
  F(cuptiProfilerHostConfigAddMetrics) F(cuptiProfilerHostGetConfigImageSize) \
  F(cuptiProfilerHostGetConfigImage) F(cuptiProfilerHostGetNumOfPasses) \
  F(cuptiProfilerHostEvaluateToGpuValues) F(cuptiRangeProfilerEnable) \
  F(cuptiRangeProfilerDisable) F(cuptiRangeProfilerSetConfig) F(cuptiRangeProfilerStart) \
  F(cuptiRangeProfilerStop) F(cuptiRangeProfilerPushRange) F(cuptiRangeProfilerPopRange) \
  F(cuptiRangeProfilerDecodeData) F(cuptiRangeProfilerGetCounterDataSize) \
  F(cuptiRangeProfilerCounterDataImageInitialize) F(cuptiRangeProfilerGetCounterDataInfo) \
  F(cuptiRangeProfilerCounterDataGetRangeInfo) F(cuptiPCSamplingEnable) \
  F(cuptiPCSamplingDisable) F(cuptiPCSamplingStart) F(cuptiPCSamplingStop) \
  F(cuptiPCSamplingGetData) F(cuptiPCSamplingGetNumStallReasons) \
  F(cuptiPCSamplingGetStallReasons) F(cuptiPCSamplingSetConfigurationAttribute) \
  F(cuptiGetSassToSourceCorrelation) F(cuptiGetCubinCrc) F(cuptiRegisterComputeCrcCallback) \
  F(cuptiSubscribe) F(cuptiEnableCallback)
// clang-format on

/// The CUPTI functions that Fathom calls, loaded at run time: a machine without CUPTI must still
/// measure times, so nothing links it. A function that an older libcupti lacks makes it unusable.
struct CuptiLibrary {
  std::filesystem::path path;  ///< the file it was loaded from
  unsigned version = 0;        ///< e.g. 130001
#define FATHOM_DECLARE(function) decltype(&::function) function = nullptr;
  FATHOM_CUPTI_FUNCTIONS(FATHOM_DECLARE)
#undef FATHOM_DECLARE
};

/// Files that `cupti_library` tries, in the order of `toolkit_library_files`; the variable that
/// names a folder is FATHOM_CUPTI_DIR.
std::vector<std::filesystem::path> cupti_search_path();

/// Loads CUPTI from the first of `files` that has every function. Throws CounterError naming what
/// was tried.
CuptiLibrary load_cupti(const std::vector<std::filesystem::path>& files);

/// The program's CUPTI, loaded on first use and kept: unloading it would leave its hooks in the
/// driver dangling. Throws CounterError, each time.
const CuptiLibrary& cupti_library();

/// Throws CounterError if `result` is a failure of `call`: not permitted, a vGPU, busy, ...
void check_cupti(CUptiResult result, const char* call);

/// Throws CounterError for what CUPTI has no code for.
[[noreturn]] void fail_counters(const std::string& detail);

/// Makes `device` current, creates its context, and initialises CUPTI's profilers, in this order:
/// the other way round CUPTI fails and the next CUDA call crashes. Throws CounterError or Error.
void initialise_profilers(int device);

/// The current CUDA context of this thread.
CUcontext current_context();

}  // namespace fathom

/// Calls a function of the program's CUPTI with the address of its parameters, and checks it.
#define FATHOM_CUPTI(function, parameters) \
  ::fathom::check_cupti(::fathom::cupti_library().function(&(parameters)), #function)
/// The parameters of such a function with these members, `.member = value`; the others are empty
/// but for the size, which those of PC sampling name otherwise.
#define FATHOM_CUPTI_PARAMS(Type, name, ...) \
  Type name { .structSize = Type##_STRUCT_SIZE, __VA_ARGS__ }
#define FATHOM_SAMPLING_PARAMS(Type, name, ...) \
  Type name { .size = Type##Size, __VA_ARGS__ }
