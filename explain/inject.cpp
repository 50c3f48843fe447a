#include <cuda.h>
#include <sanitizer.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/injected.h"

// Loaded into the program by CUDA_INJECTION64_PATH. It patches the module of a launch that is to be
// recorded, and writes what each warp instruction on memory touched into FOLDER/PID.trace. It never
// prints and never ends the program: what goes wrong becomes a note in that file. Settings come as
// FATHOM_EXPLAIN_FOLDER, _SANITIZER (the API's library), _KERNEL, _LAUNCHES and _BLOCKS.

namespace fathom::explain {
namespace {

// clang-format off
#define FATHOM_FOR_EACH_CALL(X) \
  X(sanitizerAddPatchesFromFile) X(sanitizerAlloc) X(sanitizerEnableCallback) \
  X(sanitizerEnableDomain) X(sanitizerGetFunctionPcAndSize) X(sanitizerGetResultString) \
  X(sanitizerMemcpyDeviceToHost) \
  X(sanitizerMemcpyHostToDeviceAsync) X(sanitizerPatchInstructions) X(sanitizerPatchModule) \
  X(sanitizerSetLaunchCallbackData) X(sanitizerStreamSynchronize) X(sanitizerSubscribe) \
  X(sanitizerUnpatchModule)
// clang-format on

/// Compute Sanitizer's functions, from the user's toolkit.
struct Api {
#define FATHOM_DECLARE(name) decltype(&::name) name = nullptr;
  FATHOM_FOR_EACH_CALL(FATHOM_DECLARE)
  /// The first that is missing, or null.
  const char* load(const char* file) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return dlerror();
#define FATHOM_LOAD(name)                                         \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  if (name == nullptr) return "it has no " #name;
    FATHOM_FOR_EACH_CALL(FATHOM_LOAD)
    return nullptr;
  }
};
Api api;

/// Throws where a call of the API failed.
void check(SanitizerResult result, const char* call) {
  if (result == SANITIZER_SUCCESS) return;
  const char* words = "";
  api.sanitizerGetResultString(result, &words);
  throw std::runtime_error(std::string(call) + " failed (" + (words == nullptr ? "?" : words) +
                           ")");
}
#define CHECK(call, ...) check(api.call(__VA_ARGS__), #call)

using Clock = std::chrono::steady_clock;

std::string patch_file() {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&patch_file), &here);
  const std::string library = here.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "fathom_explain.fatbin";
}

/// The functions of a module's machine code: each has a section ".text.NAME". Other text in it that
/// looks like one does no harm.
std::set<std::string> kernel_names(const std::vector<char>& code) {
  constexpr std::string_view prefix = ".text.";
  const std::string_view bytes(code.data(), code.size());
  std::set<std::string> found;
  for (std::size_t at = 0; (at = bytes.find(prefix, at)) != bytes.npos;) {
    at += prefix.size();
    found.emplace(bytes.substr(at, bytes.find('\0', at) - at));
  }
  return found;
}

struct Module {
  std::uint64_t number = 0;
  std::vector<char> code;  ///< until it is written
  std::set<std::string> kernels;
  bool patched = false;
};

/// Where the patch writes, in a context.
struct Buffers {
  Log* log = nullptr;
  Access* accesses = nullptr;
  std::uint32_t capacity = 1 << 20;
};

/// Without a count.
Pattern pattern_of(const Access& access, std::uint64_t start) {
  Pattern pattern{};
  pattern.pc = access.pc - start;
  pattern.mask = access.mask;
  // The sanitizer names 12 bytes for an LDS.128 if one of its registers is never read.
  pattern.bytes = std::bit_ceil(access.bytes);
  pattern.space = access.space;
  pattern.op = access.op;
  const auto at = [&](int lane) {
    return access.address[lane] & ~std::uint64_t{pattern.bytes - 1};
  };
  std::uint64_t lowest = ~std::uint64_t{0};
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) lowest = std::min(lowest, at(lane));
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) pattern.address[lane] = at(lane) - lowest / 128 * 128;
  return pattern;
}

/// A call of the driver that launches a kernel, from its entry to its exit.
struct Call {
  bool record = false;  ///< this launch is to be recorded
  bool begun = false;   ///< the GPU has it, patched
  std::string function;
  Sanitizer_LaunchData launch{};
  Buffers buffers;
  Clock::time_point start;
  LaunchHead head{};
};
thread_local Call call;

/// Between the begin and the end of a launch the driver holds locks of its own: there only the
/// launch's data are set. Whatever makes the driver wait (patching, memory, reading) happens at the
/// entry and at the exit of the call, and never under `mutex_`, which those in between take.
class Recorder {
 public:
  void write_totals() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, launches] : seen_)
      file_.add(RecordKind::total, {TraceFile::bytes_of(launches), name});
  }

  void loaded(const Sanitizer_ResourceModuleData& data) {
    Module module{0, {data.pCubin, data.pCubin + data.cubinSize}, {}, false};
    module.kernels = kernel_names(module.code);
    const bool now = call.record && module.kernels.contains(call.function);
    {
      const std::scoped_lock lock(mutex_);
      module.number = next_module_++;
      modules_[data.module] = std::move(module);
    }
    if (now) switch_patches(data.context, call.function, true);
  }
  void unloading(const Sanitizer_ResourceModuleData& data) {
    const std::scoped_lock lock(mutex_);
    modules_.erase(data.module);
  }
  void in_graph(const Sanitizer_GraphNodeLaunchData& node) {
    if (node.nodeType != CU_GRAPH_NODE_TYPE_KERNEL) return;
    {
      const std::scoped_lock lock(mutex_);
      if (!std::exchange(graph_noted_, true))
        file_.note("Kernels that a CUDA graph launches are not recorded");
    }
    leave_out(node.launchData);
  }

  void enter(CUcontext context, const LaunchCall& launch) {
    call = {};
    call.start = Clock::now();
    if (is_capturing(launch.stream)) return;  // any other call would end the capture
    call.function = name_of(launch.function);
    if (wanted_.has(call.function)) {
      const std::scoped_lock lock(mutex_);
      // One at a time: what other threads launch meanwhile runs unrecorded.
      call.record = !stopped_ && !recording_ && recorded_[call.function] < wanted_.launches;
      recording_ = recording_ || call.record;
    }
    switch_patches(context, call.function, call.record);
    if (call.record) call.buffers = buffers_of(context);
  }

  void begin(const Sanitizer_LaunchData& launch) {
    {
      const std::scoped_lock lock(mutex_);
      ++seen_[launch.functionName];
    }
    if (!call.record || !is_patched(launch.module)) return leave_out(launch);
    LaunchHead& head = call.head;
    head.blocks = std::uint64_t{launch.gridDim_x} * launch.gridDim_y * launch.gridDim_z;
    head.threads = std::uint64_t{launch.blockDim_x} * launch.blockDim_y * launch.blockDim_z;
    head.every = blocks_ == 0 ? 1 : (head.blocks + blocks_ - 1) / blocks_;
    // Odd: a power of two would take the first column of most grids alone.
    if (head.every > 1) head.every |= 1;
    const Log log{0, call.buffers.capacity, static_cast<std::uint32_t>(head.every),
                  call.buffers.accesses};
    CHECK(sanitizerMemcpyHostToDeviceAsync, call.buffers.log, const_cast<Log*>(&log), sizeof log,
          launch.hStream);
    CHECK(sanitizerSetLaunchCallbackData, launch.hLaunch, launch.function, launch.hStream,
          call.buffers.log);
    call.launch = launch;
    call.begun = true;
  }

  void leave(const Sanitizer_CallbackData& data) {
    if (!call.record) return;
    call.record = false;
    if (call.begun && *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS)
      write_launch();
    const std::scoped_lock lock(mutex_);
    recording_ = false;
  }

  /// Nothing is recorded from now on.
  void stop(const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(stopped_, true)) file_.note(sentence);
  }

 private:
  /// A patched kernel must hear that it is not recorded.
  void leave_out(const Sanitizer_LaunchData& launch) {
    if (is_patched(launch.module))
      CHECK(sanitizerSetLaunchCallbackData, launch.hLaunch, launch.function, launch.hStream,
            nullptr);
  }
  bool is_patched(CUmodule module) {
    const std::scoped_lock lock(mutex_);
    const auto found = modules_.find(module);
    return found != modules_.end() && found->second.patched;
  }

  void write_launch() {
    const Sanitizer_LaunchData& launch = call.launch;
    CHECK(sanitizerStreamSynchronize, launch.hStream);
    Log log{};
    CHECK(sanitizerMemcpyDeviceToHost, &log, call.buffers.log, sizeof log, launch.hStream);
    std::vector<Access> accesses(std::min(log.count, call.buffers.capacity));
    if (!accesses.empty())
      CHECK(sanitizerMemcpyDeviceToHost, accesses.data(), call.buffers.accesses,
            sizeof(Access) * accesses.size(), launch.hStream);
    std::uint64_t start = 0;
    LaunchHead& head = call.head;
    CHECK(sanitizerGetFunctionPcAndSize, launch.module, call.function.c_str(), &start,
          &head.code_bytes);
    std::map<Pattern, std::uint64_t> counts;
    for (const Access& access : accesses) ++counts[pattern_of(access, start)];
    std::vector<Pattern> patterns;
    for (const auto& [pattern, count] : counts) {
      patterns.push_back(pattern);
      patterns.back().count = count;
    }
    head.counted = log.count;
    head.kept = accesses.size();
    head.patterns = patterns.size();
    head.nanoseconds = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - call.start).count());
    const std::scoped_lock lock(mutex_);
    ++recorded_[call.function];
    Module& module = modules_.at(launch.module);
    head.module = module.number;
    if (!module.code.empty())
      file_.add(RecordKind::module,
                {TraceFile::bytes_of(module.number), {module.code.data(), module.code.size()}});
    module.code = {};
    file_.add(RecordKind::launch,
              {TraceFile::bytes_of(head),
               {reinterpret_cast<const char*>(patterns.data()), sizeof(Pattern) * patterns.size()},
               call.function});
  }

  /// Patches the modules that have `function`, or takes the patches out: a launch that is not
  /// recorded runs as fast as without.
  void switch_patches(CUcontext context, const std::string& function, bool on) {
    const std::scoped_lock one_at_a_time(patching_);
    std::vector<CUmodule> handles;
    {
      const std::scoped_lock lock(mutex_);
      for (auto& [handle, module] : modules_) {
        if (module.patched == on || !module.kernels.contains(function)) continue;
        module.patched = on;
        handles.push_back(handle);
      }
    }
    for (CUmodule const handle : handles) {
      if (on)
        patch(context, handle);
      else
        CHECK(sanitizerUnpatchModule, handle);
    }
  }

  void patch(CUcontext context, CUmodule handle) {
    if (contexts_.insert(context).second)
      CHECK(sanitizerAddPatchesFromFile, patch_file().c_str(), context);
    // Each time: sanitizerUnpatchModule forgets what was to be patched, and says nothing.
    CHECK(sanitizerPatchInstructions, SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, handle,
          "on_global");
    CHECK(sanitizerPatchInstructions, SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, handle,
          "on_shared");
    CHECK(sanitizerPatchInstructions, SANITIZER_INSTRUCTION_MEMCPY_ASYNC, handle, "on_async");
    CHECK(sanitizerPatchInstructions, SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS, handle,
          "on_matrix");
    CHECK(sanitizerPatchModule, handle);
  }

  /// For the one launch that is being recorded.
  Buffers& buffers_of(CUcontext context) {
    Buffers& buffers = buffers_[context];
    if (buffers.log != nullptr) return buffers;
    CHECK(sanitizerAlloc, context, reinterpret_cast<void**>(&buffers.log), sizeof(Log));
    // A program may have taken nearly all of the memory.
    constexpr std::uint32_t least = 1 << 12;
    while (buffers.capacity > least &&
           api.sanitizerAlloc(context, reinterpret_cast<void**>(&buffers.accesses),
                              sizeof(Access) * buffers.capacity) != SANITIZER_SUCCESS)
      buffers.capacity /= 2;
    if (buffers.accesses == nullptr)
      throw std::runtime_error("The GPU has no memory left for the recording");
    return buffers;
  }

  const Wanted wanted_;
  const std::uint64_t blocks_ = number("BLOCKS");  ///< of each launch; 0: all
  std::recursive_mutex patching_;                  ///< a module may be loaded while one is patched
  std::set<CUcontext> contexts_;                   ///< that have the patches; under `patching_`
  std::map<CUcontext, Buffers> buffers_;           ///< of who has `recording_`

  std::mutex mutex_;  ///< of all below
  TraceFile file_;
  std::map<CUmodule, Module> modules_;
  std::uint64_t next_module_ = 1;
  std::map<std::string, std::uint64_t> seen_, recorded_;  ///< launches by function
  bool stopped_ = false, graph_noted_ = false;
  bool recording_ = false;  ///< somebody records a launch
};

Recorder& recorder() {
  static Recorder& one = *new Recorder;  // the driver calls back while static objects go
  return one;
}

constexpr Sanitizer_CallbackId launch_calls[] = FATHOM_LAUNCH_CALLS(SANITIZER_CBID_DRIVER_API_);

void on_event(void*, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void* data) {
  try {
    if (domain == SANITIZER_CB_DOMAIN_RESOURCE && id == SANITIZER_CBID_RESOURCE_MODULE_LOADED)
      recorder().loaded(*static_cast<const Sanitizer_ResourceModuleData*>(data));
    if (domain == SANITIZER_CB_DOMAIN_RESOURCE &&
        id == SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
      recorder().unloading(*static_cast<const Sanitizer_ResourceModuleData*>(data));
    if (domain == SANITIZER_CB_DOMAIN_GRAPHS && id == SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN)
      recorder().in_graph(*static_cast<const Sanitizer_GraphNodeLaunchData*>(data));
    if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_BEGIN)
      recorder().begin(*static_cast<const Sanitizer_LaunchData*>(data));
    if (domain == SANITIZER_CB_DOMAIN_DRIVER_API) {
      const auto& driver_call = *static_cast<const Sanitizer_CallbackData*>(data);
      if (driver_call.callbackSite == SANITIZER_API_EXIT)
        recorder().leave(driver_call);
      else
        recorder().enter(driver_call.context,
                         launch_of(launch_calls, id, driver_call.functionParams));
    }
  } catch (const std::exception& error) {
    recorder().stop(error.what());
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  Recorder& all = recorder();
  std::atexit([] { recorder().write_totals(); });
  const std::string library = setting("SANITIZER");
  if (const char* const missing = api.load(library.c_str())) {
    all.stop("Compute Sanitizer's library cannot be used: " + std::string(missing));
    return 1;
  }
  try {
    Sanitizer_SubscriberHandle subscriber;
    CHECK(sanitizerSubscribe, &subscriber, on_event, nullptr);
    for (const auto domain :
         {SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CB_DOMAIN_GRAPHS})
      CHECK(sanitizerEnableDomain, 1, subscriber, domain);
    for (const Sanitizer_CallbackId id : launch_calls)
      CHECK(sanitizerEnableCallback, 1, subscriber, SANITIZER_CB_DOMAIN_DRIVER_API, id);
  } catch (const std::exception& error) {
    all.stop("Compute Sanitizer's library does not fit this driver: " + std::string(error.what()));
  }
  return 1;
}

}  // namespace fathom::explain
