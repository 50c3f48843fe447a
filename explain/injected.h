#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "explain/trace.h"

// What the libraries that are loaded into the program share: what they are told, the file that they
// write, and what they ask the driver.

namespace fathom::explain {

/// What `fathom explain` told the library, by a variable of the environment.
inline std::string setting(const char* name) {
  const char* const value = std::getenv(("FATHOM_EXPLAIN_" + std::string(name)).c_str());
  return value == nullptr ? "" : value;
}

inline std::uint64_t number(const char* name) {
  return static_cast<std::uint64_t>(std::atoll(setting(name).c_str()));
}

/// Which launches are of interest: the first of each kernel in whose name `--kernel` is found, as
/// the machine code or as the source has it.
struct Wanted {
  const std::regex kernel{setting("KERNEL")};
  const std::uint64_t launches = number("LAUNCHES");  ///< of each

  bool has(const std::string& function) const {
    return std::regex_search(function, kernel) || std::regex_search(source_name(function), kernel);
  }
};

/// FOLDER/PID.trace, made when there is something to write. It never throws and never prints.
class TraceFile {
 public:
  void note(const std::string& sentence) { add(RecordKind::note, {{sentence}}); }
  void add(RecordKind kind, const std::vector<std::string_view>& parts) {
    if (file_ < 0) {
      const std::string path = setting("FOLDER") + "/" + std::to_string(getpid()) + ".trace";
      file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      write_all({trace_magic, sizeof trace_magic - 1});
    }
    RecordHead head{kind, 0};
    for (const std::string_view part : parts) head.bytes += part.size();
    write_all(bytes_of(head));
    for (const std::string_view part : parts) write_all(part);
  }
  template <class T>
  static std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }

 private:
  void write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(file_, bytes.data(), bytes.size());
      if (n <= 0) return;  // a full disk: the reader finds the record cut short
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  int file_ = -1;
};

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

/// The numbers of such calls, of an API that names them by a prefix.
#define FATHOM_LAUNCH_CALLS(PREFIX)                                                         \
  {                                                                                         \
    PREFIX##cuLaunchKernel, PREFIX##cuLaunchKernel_ptsz, PREFIX##cuLaunchCooperativeKernel, \
        PREFIX##cuLaunchCooperativeKernel_ptsz, PREFIX##cuLaunchKernelEx,                   \
        PREFIX##cuLaunchKernelEx_ptsz                                                       \
  }

/// By the call's parameters. Only their beginnings, as generated_cuda_meta.h has them: that header
/// fits one release of cuda.h alone, and the sanitizer's may come from another.
template <class Id>
LaunchCall launch_of(const Id (&calls)[6], std::uint32_t call_id, const void* parameters) {
  struct Plain {  // of cuLaunchCooperativeKernel too
    CUfunction function;
    unsigned grid[3], block[3], shared_memory;
    CUstream stream;
  };
  struct Extended {
    const CUlaunchConfig* config;
    CUfunction function;
  };
  if (call_id == calls[4] || call_id == calls[5]) {
    const auto& call = *static_cast<const Extended*>(parameters);
    return {call.function, call.config->hStream};
  }
  const auto& call = *static_cast<const Plain*>(parameters);
  return {call.function, call.stream};
}

}  // namespace fathom::explain
