#include <sanitizer.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "studies/addresses/access.h"

// Loaded into a program by CUDA_INJECTION64_PATH: patches each module that it loads, and writes to
// standard error what each memory instruction of each launch costs by Fathom's models.
// FATHOM_PATCH: patch.fatbin; FATHOM_EVERY: one block in so many (1).

namespace fathom::addresses {
namespace {

constexpr std::uint32_t capacity = 4'000'000;
std::uint32_t every = 1;
Log* log_on_gpu = nullptr;
Access* accesses_on_gpu = nullptr;

void check(SanitizerResult result, const char* call) {
  if (result == SANITIZER_SUCCESS) return;
  const char* words = "";
  sanitizerGetResultString(result, &words);
  std::fprintf(stderr, "%s: %s\n", call, words);
  std::exit(1);
}
#define CHECK(call) check((call), #call)

void patch(const Sanitizer_ResourceModuleData& loaded) {
  CHECK(sanitizerAddPatchesFromFile(std::getenv("FATHOM_PATCH"), loaded.context));
  CHECK(sanitizerPatchInstructions(SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, loaded.module,
                                   "on_global"));
  CHECK(sanitizerPatchInstructions(SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, loaded.module,
                                   "on_shared"));
  CHECK(sanitizerPatchModule(loaded.module));
}

void before(const Sanitizer_LaunchData& launch) {
  if (log_on_gpu == nullptr) {
    CHECK(sanitizerAlloc(launch.context, reinterpret_cast<void**>(&log_on_gpu), sizeof(Log)));
    CHECK(sanitizerAlloc(launch.context, reinterpret_cast<void**>(&accesses_on_gpu),
                         sizeof(Access) * capacity));
  }
  Log log{0, capacity, every, accesses_on_gpu};
  CHECK(sanitizerMemcpyHostToDeviceAsync(log_on_gpu, &log, sizeof log, launch.hStream));
  CHECK(sanitizerSetLaunchCallbackData(launch.hLaunch, launch.function, launch.hStream,
                                       log_on_gpu));
}

struct Cost {
  bool shared = false;
  std::uint32_t bytes = 0, flags = 0;
  std::uint64_t accesses = 0, lanes = 0;
  std::uint64_t units = 0;  ///< sectors or wavefronts
};

void add(Cost& cost, const Access& access) {
  models::WarpAccess warp;
  warp.op = access.flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE ? models::Access::store
                                                              : models::Access::load;
  warp.bytes_per_lane = static_cast<int>(access.bytes);
  warp.active_mask = access.mask;
  std::copy_n(access.address, 32, warp.address.begin());
  cost.shared = access.shared;
  cost.bytes = access.bytes;
  cost.flags = access.flags;
  ++cost.accesses;
  cost.lanes += static_cast<unsigned>(__builtin_popcount(access.mask));
  cost.units += static_cast<unsigned>(access.shared ? models::wavefronts(warp)
                                                    : models::sectors(warp));
}

void after(const Sanitizer_LaunchData& launch) {
  CHECK(sanitizerStreamSynchronize(launch.hStream));
  Log log;
  CHECK(sanitizerMemcpyDeviceToHost(&log, log_on_gpu, sizeof log, launch.hStream));
  std::vector<Access> accesses(std::min(log.count, capacity));
  if (!accesses.empty()) {
    CHECK(sanitizerMemcpyDeviceToHost(accesses.data(), accesses_on_gpu,
                                      sizeof(Access) * accesses.size(), launch.hStream));
  }
  std::uint64_t start = 0, size = 0;
  CHECK(sanitizerGetFunctionPcAndSize(launch.module, launch.functionName, &start, &size));
  std::map<std::uint64_t, Cost> costs;
  for (const Access& access : accesses) add(costs[access.pc - start], access);
  std::fprintf(stderr, "%s: %u accesses%s\n", launch.functionName, log.count,
               log.count > capacity ? ", more than fit" : "");
  for (const auto& [offset, cost] : costs) {
    constexpr std::uint32_t reads = SANITIZER_MEMORY_DEVICE_FLAG_READ;
    constexpr std::uint32_t writes = SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    const char* kind = (cost.flags & (reads | writes)) == (reads | writes) ? "atomic"
                       : cost.flags & writes                              ? "store"
                                                                          : "load";
    std::fprintf(stderr, "  +0x%04llx %s %-6s %2u B  %8llu accesses of %4.1f lanes  %8llu %s\n",
                 static_cast<unsigned long long>(offset), cost.shared ? "shared" : "global", kind,
                 cost.bytes, static_cast<unsigned long long>(cost.accesses),
                 static_cast<double>(cost.lanes) / static_cast<double>(cost.accesses),
                 static_cast<unsigned long long>(cost.units),
                 cost.shared ? "wavefronts" : "sectors");
  }
}

void on_event(void*, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void* data) {
  if (domain == SANITIZER_CB_DOMAIN_RESOURCE && id == SANITIZER_CBID_RESOURCE_MODULE_LOADED)
    patch(*static_cast<const Sanitizer_ResourceModuleData*>(data));
  if (domain != SANITIZER_CB_DOMAIN_LAUNCH) return;
  const auto& launch = *static_cast<const Sanitizer_LaunchData*>(data);
  if (id == SANITIZER_CBID_LAUNCH_BEGIN) before(launch);
  if (id == SANITIZER_CBID_LAUNCH_END) after(launch);
}

}  // namespace

extern "C" int InitializeInjection() {
  if (const char* value = std::getenv("FATHOM_EVERY")) every = std::max(1, std::atoi(value));
  if (std::getenv("FATHOM_PATCH") == nullptr) {
    std::fprintf(stderr, "FATHOM_PATCH names no patch.fatbin\n");
    std::exit(2);
  }
  Sanitizer_SubscriberHandle subscriber;
  CHECK(sanitizerSubscribe(&subscriber, on_event, nullptr));
  CHECK(sanitizerEnableDomain(1, subscriber, SANITIZER_CB_DOMAIN_RESOURCE));
  CHECK(sanitizerEnableDomain(1, subscriber, SANITIZER_CB_DOMAIN_LAUNCH));
  return 1;
}

}  // namespace fathom::addresses
