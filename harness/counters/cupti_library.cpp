#include "harness/counters/cupti_library.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "harness/cuda_check.h"
#include "harness/toolkit_libraries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// The major version must be that of the headers: structures differ between majors.
constexpr int cupti_major = CUPTI_API_VERSION / 10000;

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
  throw CounterError(problem_of(result),
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
