#include <sanitizer_patching.h>

#include "studies/addresses/access.h"

// Called before each load and store of a patched program, by the lanes that execute it.

namespace fathom::addresses {
namespace {

__device__ void record(void* user, std::uint64_t pc, const void* at, std::uint32_t bytes,
                       std::uint32_t flags, bool shared) {
  Log& log = *static_cast<Log*>(user);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (block % log.every != 0) return;
  const unsigned mask = __activemask(), leader = __ffs(mask) - 1;
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned slot = lane == leader ? atomicAdd(&log.count, 1) : 0;
  slot = __shfl_sync(mask, slot, leader);
  if (slot >= log.capacity) return;
  Access& access = log.accesses[slot];
  if (lane == leader) {
    access.pc = pc;
    access.mask = mask;
    access.bytes = bytes;
    access.flags = flags;
    access.shared = shared;
  }
  access.address[lane] = reinterpret_cast<std::uint64_t>(at);
}

}  // namespace

extern "C" __device__ __noinline__ SanitizerPatchResult on_global(
    void* user, std::uint64_t pc, void* at, std::uint32_t bytes, std::uint32_t flags, const void*) {
  record(user, pc, at, bytes, flags, false);
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult on_shared(
    void* user, std::uint64_t pc, void* at, std::uint32_t bytes, std::uint32_t flags, const void*) {
  record(user, pc, at, bytes, flags, true);
  return SANITIZER_PATCH_SUCCESS;
}

}  // namespace fathom::addresses
