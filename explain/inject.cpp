#include <dlfcn.h>
#include <fcntl.h>
#include <sanitizer.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "explain/trace.h"

// Loaded into the program by CUDA_INJECTION64_PATH. It patches the module of a launch that is to be
// recorded, and writes what each warp instruction on memory touched into FOLDER/PID.trace. It never
// prints and never ends the program: what goes wrong becomes a note in that file. Settings come as
// FATHOM_EXPLAIN_FOLDER, _SANITIZER (the API's library), _KERNEL, _LAUNCHES and _BLOCKS.

namespace fathom::explain {
namespace {

using Clock = std::chrono::steady_clock;

// clang-format off
#define FATHOM_FOR_EACH_CALL(X) \
  X(sanitizerAddPatchesFromFile) X(sanitizerAlloc) X(sanitizerEnableDomain) \
  X(sanitizerGetFunctionPcAndSize) X(sanitizerGetResultString) X(sanitizerMemcpyDeviceToHost) \
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
} api;

/// Text of a failure of the API, thrown from where it happens to the callback.
struct Failure {
  std::string sentence;
};

void check(SanitizerResult result, const char* call) {
  if (result == SANITIZER_SUCCESS) return;
  const char* words = "";
  api.sanitizerGetResultString(result, &words);
  throw Failure{std::string(call) + " failed (" + (words == nullptr ? "?" : words) + ")"};
}
#define CHECK(call, ...) check(api.call(__VA_ARGS__), #call)

std::string setting(const char* name) {
  const char* const value = std::getenv(("FATHOM_EXPLAIN_" + std::string(name)).c_str());
  return value == nullptr ? "" : value;
}

std::string patch_file() {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&patch_file), &here);
  const std::string library = here.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "fathom_explain.fatbin";
}

class TraceFile {
 public:
  void note(const std::string& sentence) { add(RecordKind::note, {{sentence}}); }
  void add(RecordKind kind, const std::vector<std::string_view>& parts) {
    if (file_ < 0) {
      const std::string path = setting("FOLDER") + "/" + std::to_string(getpid()) + ".trace";
      file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      write_all({trace_magic, sizeof trace_magic - 1});
    }
    RecordHead head{kind, 0, 0};
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

struct Module {
  std::uint64_t number = 0;
  std::vector<char> code;
  bool patched = false, written = false;
};

/// Where the patch writes, in a context.
struct Buffers {
  Log* log = nullptr;
  Access* accesses = nullptr;
  std::uint32_t capacity = 1 << 20;
};

struct PatternLess {
  bool operator()(const Pattern& a, const Pattern& b) const {
    // The count is no part of what is compared.
    if (a.pc != b.pc) return a.pc < b.pc;
    return std::memcmp(&a.mask, &b.mask, sizeof a - offsetof(Pattern, mask)) < 0;
  }
};

Pattern pattern_of(const Access& access, std::uint64_t start) {
  Pattern pattern{};
  pattern.pc = access.pc - start;
  pattern.mask = access.mask;
  pattern.bytes = access.bytes;
  pattern.space = access.space;
  pattern.op = access.op;
  std::uint64_t lowest = ~std::uint64_t{0};
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) lowest = std::min(lowest, access.address[lane]);
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) pattern.address[lane] = access.address[lane] - lowest / 128 * 128;
  return pattern;
}

class Recorder {
 public:
  Recorder() {
    const std::string kernel = setting("KERNEL");
    if (!kernel.empty()) kernel_ = std::regex(kernel);
    launches_ = static_cast<std::uint64_t>(std::atoll(setting("LAUNCHES").c_str()));
    blocks_ = static_cast<std::uint64_t>(std::atoll(setting("BLOCKS").c_str()));
  }
  void write_totals() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, launches] : seen_)
      file_.add(RecordKind::total, {TraceFile::bytes_of(launches), name});
  }
  TraceFile& file() { return file_; }

  void loaded(const Sanitizer_ResourceModuleData& data) {
    const std::scoped_lock lock(mutex_);
    Module& module = modules_[data.module];
    module = {next_module_++, {data.pCubin, data.pCubin + data.cubinSize}};
  }
  void unloading(const Sanitizer_ResourceModuleData& data) {
    const std::scoped_lock lock(mutex_);
    modules_.erase(data.module);
  }
  void in_graph() {
    const std::scoped_lock lock(mutex_);
    if (!graph_noted_) file_.note("Kernels that a CUDA graph launches are not recorded");
    graph_noted_ = true;
  }

  /// One launch at a time is recorded, and no lock is held while it runs: one that fails or is
  /// captured has no end, and nobody may wait for it. What other threads launch meanwhile runs
  /// unrecorded.
  void begin(const Sanitizer_LaunchData& launch) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t before = seen_[launch.functionName]++;
    const auto found = modules_.find(launch.module);
    if (stopped_ || found == modules_.end() || other_thread_records()) return;
    recording_thread_ = std::thread::id();
    Module& module = found->second;
    if (before >= launches_ || !is_wanted(launch.functionName)) {
      if (module.patched) {
        CHECK(sanitizerUnpatchModule, launch.module);
        module.patched = false;
      }
      return;
    }
    start_ = Clock::now();
    patch(launch.context, launch.module, module);
    Buffers& buffers = buffers_of(launch.context);
    const std::uint64_t blocks =
        std::uint64_t{launch.gridDim_x} * launch.gridDim_y * launch.gridDim_z;
    head_ = {};
    head_.every = blocks_ == 0 ? 1 : static_cast<std::uint32_t>((blocks + blocks_ - 1) / blocks_);
    // Odd: a power of two would take the first column of most grids alone.
    if (head_.every > 1) head_.every |= 1;
    const Log log{0, buffers.capacity, head_.every, buffers.accesses};
    CHECK(sanitizerMemcpyHostToDeviceAsync, buffers.log, const_cast<Log*>(&log), sizeof log,
          launch.hStream);
    CHECK(sanitizerSetLaunchCallbackData, launch.hLaunch, launch.function, launch.hStream,
          buffers.log);
    head_.module = module.number;
    const std::uint32_t grid[] = {launch.gridDim_x, launch.gridDim_y, launch.gridDim_z};
    const std::uint32_t block[] = {launch.blockDim_x, launch.blockDim_y, launch.blockDim_z};
    std::copy_n(grid, 3, head_.grid);
    std::copy_n(block, 3, head_.block);
    recording_thread_ = std::this_thread::get_id();
  }

  void end(const Sanitizer_LaunchData& launch) {
    const std::scoped_lock lock(mutex_);
    if (recording_thread_ != std::this_thread::get_id()) return;
    recording_thread_ = std::thread::id();
    const Buffers& buffers = buffers_of(launch.context);
    CHECK(sanitizerStreamSynchronize, launch.hStream);
    Log log{};
    CHECK(sanitizerMemcpyDeviceToHost, &log, buffers.log, sizeof log, launch.hStream);
    std::vector<Access> accesses(std::min(log.count, buffers.capacity));
    if (!accesses.empty()) {
      CHECK(sanitizerMemcpyDeviceToHost, accesses.data(), buffers.accesses,
            sizeof(Access) * accesses.size(), launch.hStream);
    }
    std::uint64_t start = 0;
    CHECK(sanitizerGetFunctionPcAndSize, launch.module, launch.functionName, &start,
          &head_.code_bytes);
    std::map<Pattern, std::uint64_t, PatternLess> counts;
    for (const Access& access : accesses) ++counts[pattern_of(access, start)];
    std::vector<Pattern> patterns;
    for (const auto& [pattern, count] : counts) {
      patterns.push_back(pattern);
      patterns.back().count = count;
    }
    Module& module = modules_.at(launch.module);
    if (!module.written) {
      file_.add(RecordKind::module,
                {TraceFile::bytes_of(module.number), {module.code.data(), module.code.size()}});
    }
    module.written = true;
    module.code = {};
    const std::string_view name = launch.functionName;
    head_.counted = log.count;
    head_.kept = accesses.size();
    head_.name_bytes = static_cast<std::uint32_t>(name.size());
    head_.patterns = static_cast<std::uint32_t>(patterns.size());
    head_.nanoseconds = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count());
    file_.add(RecordKind::launch, {TraceFile::bytes_of(head_),
                                   name,
                                   {reinterpret_cast<const char*>(patterns.data()),
                                    sizeof(Pattern) * patterns.size()}});
  }

  /// Nothing is recorded from now on.
  void stop(const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    if (!stopped_) file_.note(sentence);
    stopped_ = true;
  }

 private:
  bool other_thread_records() const {
    return recording_thread_ != std::thread::id() &&
           recording_thread_ != std::this_thread::get_id();
  }

  bool is_wanted(const std::string& function) const {
    return !kernel_ || std::regex_search(source_name(function), *kernel_) ||
           std::regex_search(function, *kernel_);
  }

  void patch(CUcontext context, CUmodule handle, Module& module) {
    if (module.patched) return;
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
    module.patched = true;
  }

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
    if (buffers.accesses == nullptr) throw Failure{"The GPU has no memory left for the recording"};
    return buffers;
  }

  std::optional<std::regex> kernel_;
  std::uint64_t launches_ = 0;  ///< of each kernel
  std::uint64_t blocks_ = 0;    ///< of each launch; 0: all
  std::recursive_mutex mutex_;
  TraceFile file_;
  std::map<CUmodule, Module> modules_;
  std::uint64_t next_module_ = 1;
  std::set<CUcontext> contexts_;  ///< that have the patches
  std::map<CUcontext, Buffers> buffers_;
  std::map<std::string, std::uint64_t> seen_;  ///< launches by function
  bool stopped_ = false, graph_noted_ = false;

  // The launch that is being recorded.
  std::thread::id recording_thread_;  ///< its thread; of nobody: there is none
  Clock::time_point start_;
  LaunchHead head_{};
};

Recorder& recorder() {
  static Recorder& one = *new Recorder;  // the driver calls back while static objects go
  return one;
}

void on_event(void*, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void* data) {
  try {
    if (domain == SANITIZER_CB_DOMAIN_RESOURCE && id == SANITIZER_CBID_RESOURCE_MODULE_LOADED)
      recorder().loaded(*static_cast<const Sanitizer_ResourceModuleData*>(data));
    if (domain == SANITIZER_CB_DOMAIN_RESOURCE &&
        id == SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
      recorder().unloading(*static_cast<const Sanitizer_ResourceModuleData*>(data));
    if (domain == SANITIZER_CB_DOMAIN_GRAPHS && id == SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN)
      recorder().in_graph();
    if (domain != SANITIZER_CB_DOMAIN_LAUNCH) return;
    const auto& launch = *static_cast<const Sanitizer_LaunchData*>(data);
    if (id == SANITIZER_CBID_LAUNCH_BEGIN) recorder().begin(launch);
    if (id == SANITIZER_CBID_LAUNCH_END) recorder().end(launch);
  } catch (const Failure& failure) {
    recorder().stop(failure.sentence);
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
  } catch (const Failure& failure) {
    all.stop("Compute Sanitizer's library does not fit this driver: " + failure.sentence);
  }
  return 1;
}

}  // namespace fathom::explain
