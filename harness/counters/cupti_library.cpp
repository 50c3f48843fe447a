#include "harness/counters/cupti_library.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "harness/cuda_check.h"
#include "harness/toolkit_libraries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// The major version must be that of the headers: structures differ between majors.
constexpr int cupti_major = CUPTI_API_VERSION / 10000;

/// What cannot be read here, by what a user must do about it.
struct Problem {
  std::vector<CUptiResult> results;
  ExitCode code;
  const char* sentence;
};

const Problem problems[] = {
    {{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES},
     ExitCode::counters_unavailable,
     "The driver lets only administrators read hardware counters: run as root (a container also "
     "needs --cap-add=SYS_ADMIN), or write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
     "to a file in /etc/modprobe.d, rebuild the initramfs and restart."},
    {{CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
      CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES},
     ExitCode::partitioned_gpu,
     "This virtual GPU does not offer hardware counters: ask its host's administrator to set the "
     "vGPU plug-in parameter enable_profiling=1, or run on a whole GPU."},
    {{CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED},
     ExitCode::partitioned_gpu,
     "This MIG slice does not offer hardware counters: run on a GPU with MIG off (nvidia-smi -mig "
     "0), or on the instance that has the whole GPU."},
    {{CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
     ExitCode::counters_unavailable,
     "The GPU runs in confidential computing mode, which locks its hardware counters: switch the "
     "mode off, or to its developer tools variant."},
    {{CUPTI_ERROR_INVALID_CHIP_NAME, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED,
      CUPTI_ERROR_NOT_SUPPORTED},
     ExitCode::counters_unavailable,
     "This CUPTI cannot read the counters of this GPU: it needs Turing or newer, and for a GPU "
     "newer than the toolkit a newer toolkit."},
    {{CUPTI_ERROR_HARDWARE_BUSY, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
      CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED},
     ExitCode::counters_unavailable,
     "Another profiler holds the hardware counters: end it (ncu, nsys, dcgm; 'dcgmi profile "
     "--pause' pauses the last) and run again."},
    {{CUPTI_ERROR_NOT_COMPATIBLE, CUPTI_ERROR_API_NOT_IMPLEMENTED},
     ExitCode::driver_too_old,
     "The driver is older than this CUPTI: update the driver to the version of the toolkit or "
     "newer."}};

/// Fills `l` from the library; returns a function that it lacks, or null.
const char* resolve(void* handle, CuptiLibrary& l) {
  const char* missing = nullptr;
#define FATHOM_RESOLVE(function)                                                 \
  l.function = reinterpret_cast<decltype(l.function)>(dlsym(handle, #function)); \
  if (l.function == nullptr) missing = #function;
  FATHOM_CUPTI_FUNCTIONS(FATHOM_RESOLVE)
#undef FATHOM_RESOLVE
  return missing;
}

/// CUPTI opens its companions by name alone, which finds them only where the system's loader looks
/// anyway. Once opened from beside it they are found by that name too. A companion that cannot be
/// opened is no error here: CUPTI says what it lacks.
void open_companions(const fs::path& cupti) {
  if (!cupti.has_parent_path()) return;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
    dlopen((cupti.parent_path() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

std::vector<fs::path> cupti_search_path() {
  return toolkit_library_files(fmt::format("libcupti.so.{}", cupti_major), "FATHOM_CUPTI_DIR",
                               {"lib64", "extras/CUPTI/lib64", "lib"});
}

CuptiLibrary load_cupti(const std::vector<fs::path>& files) {
  std::string tried;
  for (const fs::path& file : files) {
    tried += (tried.empty() ? "tried " : ", ") + file.string();
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    CuptiLibrary library;
    if (const char* const missing = resolve(handle, library)) {
      tried += fmt::format(" (has no {})", missing);
      dlclose(handle);
      continue;
    }
    library.path = path_of_library(handle);
    open_companions(library.path);
    library.cuptiGetVersion(&library.version);
    return library;
  }
  throw CounterError(
      ExitCode::counters_unavailable,
      fmt::format("Hardware counters need libcupti, which was not found: install the toolkit's "
                  "CUPTI package (cuda-cupti), or name its folder in FATHOM_CUPTI_DIR. ({})",
                  tried));
}

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary library = load_cupti(cupti_search_path());
  return library;
}

void fail_counters(const std::string& detail) {
  throw CounterError(
      ExitCode::counters_unavailable,
      fmt::format("Reading hardware counters failed: run with --no-counters to measure without "
                  "them. ({})",
                  detail));
}

void check_cupti(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cupti_library().cuptiGetResultString(result, &text);
  const std::string detail = fmt::format("{} returned {} ({})", call, static_cast<int>(result),
                                         text == nullptr ? "no name" : text);
  for (const auto& [results, code, sentence] : problems)
    if (std::ranges::count(results, result) > 0)
      throw CounterError(code, fmt::format("{} ({})", sentence, detail));
  fail_counters(detail);
}

void initialise_profilers(int device) {
  const CuptiLibrary& cupti = cupti_library();
  FATHOM_CUDA(cudaSetDevice(device));
  FATHOM_CUDA(cudaFree(nullptr));
  // Once for the program: CUPTI stays initialised, since other sessions follow.
  static const CUptiResult result = [&cupti] {
    FATHOM_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    return cupti.cuptiProfilerInitialize(&params);
  }();
  check_cupti(result, "cuptiProfilerInitialize");
}

CUcontext current_context() {
  CUcontext context = nullptr;
  const CUresult result = driver_function<CUresult(CUcontext*)>("cuCtxGetCurrent")(&context);
  if (result != CUDA_SUCCESS || context == nullptr)
    fail_counters("there is no current CUDA context");
  return context;
}

}  // namespace fathom
