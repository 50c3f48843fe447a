#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <optional>
#include <regex>
#include <string>

#include "explain/trace.h"

// What the libraries that are loaded into the program ask the driver, and what the driver tells
// them of its calls.

namespace fathom::explain {

/// A function of the driver that is in the program already; null if it has none.
template <class Function>
Function* driver(const char* name) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Whether a launch into `stream` goes into a graph that is being captured, where nothing may be
/// waited for. Also true where the driver cannot say.
inline bool is_capturing(CUstream stream) {
  static const auto ask = driver<CUresult(CUstream, CUstreamCaptureStatus*)>("cuStreamIsCapturing");
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return ask == nullptr || ask(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// A kernel's name as the machine code has it; empty if the driver is too old to say.
inline std::string name_of(CUfunction kernel) {
  using Ask = CUresult(const char**, CUfunction);
  static Ask* const of_function = driver<Ask>("cuFuncGetName");
  static Ask* const of_kernel = driver<Ask>("cuKernelGetName");  // the runtime launches these
  for (Ask* const ask : {of_function, of_kernel}) {
    const char* name = nullptr;
    if (ask != nullptr && ask(&name, kernel) == CUDA_SUCCESS) return name;
  }
  return {};
}

/// A call of the driver that launches a kernel.
struct LaunchCall {
  CUfunction function;
  CUstream stream;
};

/// By the call's parameters; `extended`: of cuLaunchKernelEx. Only their beginnings, as
/// generated_cuda_meta.h has them: that header fits one release of cuda.h alone, and the
/// sanitizer's may come from another.
inline LaunchCall launch_of(bool extended, const void* parameters) {
  struct Plain {  // of cuLaunchCooperativeKernel too
    CUfunction function;
    unsigned grid[3], block[3], shared_memory;
    CUstream stream;
  };
  struct Extended {
    const CUlaunchConfig* config;
    CUfunction function;
  };
  if (extended) {
    const auto& call = *static_cast<const Extended*>(parameters);
    return {call.function, call.config->hStream};
  }
  const auto& call = *static_cast<const Plain*>(parameters);
  return {call.function, call.stream};
}

/// Whether `--kernel` finds the function's name, as the source or as the machine code has it.
inline bool is_wanted(const std::string& function, const std::optional<std::regex>& kernel) {
  return !kernel || std::regex_search(source_name(function), *kernel) ||
         std::regex_search(function, *kernel);
}

}  // namespace fathom::explain
