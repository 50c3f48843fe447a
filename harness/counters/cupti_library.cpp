#include "harness/counters/cupti_library.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/cuda_check.h"
#include "harness/toolkit_libraries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// The major version must be that of the headers: structures differ between majors.
constexpr int cupti_major = CUPTI_API_VERSION / 10000;

constexpr std::pair<CUptiResult, CounterProblem> problems[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CounterProblem::not_permitted},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, CounterProblem::vgpu},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, CounterProblem::vgpu},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, CounterProblem::mig},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, CounterProblem::confidential_computing},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, CounterProblem::mining_gpu},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, CounterProblem::sli},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, CounterProblem::wsl},
    {CUPTI_ERROR_INVALID_CHIP_NAME, CounterProblem::unsupported_gpu},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, CounterProblem::unsupported_gpu},
    {CUPTI_ERROR_NOT_SUPPORTED, CounterProblem::unsupported_gpu},
    {CUPTI_ERROR_HARDWARE_BUSY, CounterProblem::busy},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CounterProblem::busy},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, CounterProblem::busy},
    {CUPTI_ERROR_NOT_COMPATIBLE, CounterProblem::driver_too_old},
    {CUPTI_ERROR_API_NOT_IMPLEMENTED, CounterProblem::driver_too_old},
    {CUPTI_ERROR_OUT_OF_MEMORY, CounterProblem::out_of_memory},
};

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
  throw CounterError(CounterProblem::no_library, tried);
}

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary library = load_cupti(cupti_search_path());
  return library;
}

void check_cupti(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cupti_library().cuptiGetResultString(result, &text);
  const auto known =
      std::ranges::find(problems, result, &std::pair<CUptiResult, CounterProblem>::first);
  throw CounterError(known == std::end(problems) ? CounterProblem::failed : known->second,
                     fmt::format("{} returned {} ({})", call, static_cast<int>(result),
                                 text == nullptr ? "no name" : text));
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
    throw CounterError(CounterProblem::failed, "there is no current CUDA context");
  return context;
}

}  // namespace fathom
