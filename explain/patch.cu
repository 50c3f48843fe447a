#include <sanitizer_patching.h>

#include "explain/access.h"

// Called before each load and store of a patched program, by the lanes that execute it. Without a
// log (`user` is null) the launch is not recorded.

namespace fathom::explain {
namespace {

__device__ void record(void* user, std::uint64_t pc, std::uint64_t at, std::uint32_t bytes,
                       Space space, Op op, unsigned lanes = ~0u) {
  if (user == nullptr) return;
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
    access.mask = mask & lanes;
    access.bytes = bytes;
    access.space = space;
    access.op = op;
  }
  access.address[lane] = at;
}

__device__ Op op_of(std::uint32_t flags) {
  if ((flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE) == 0) return Op::load;
  return (flags & SANITIZER_MEMORY_DEVICE_FLAG_READ) != 0 ? Op::atomic : Op::store;
}

}  // namespace

extern "C" __device__ __noinline__ SanitizerPatchResult on_global(void* user, std::uint64_t pc,
                                                                  void* at, std::uint32_t bytes,
                                                                  std::uint32_t flags,
                                                                  const void*) {
  if ((flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH) == 0)
    record(user, pc, reinterpret_cast<std::uint64_t>(at), bytes, Space::global, op_of(flags));
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult on_shared(void* user, std::uint64_t pc,
                                                                  void* at, std::uint32_t bytes,
                                                                  std::uint32_t flags,
                                                                  const void*) {
  record(user, pc, reinterpret_cast<std::uint64_t>(at), bytes, Space::shared, op_of(flags));
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult on_async(void* user, std::uint64_t pc,
                                                                 void* from, std::uint32_t to,
                                                                 std::uint32_t bytes) {
  // Without a source cp.async reads nothing and writes zeros.
  if (from != nullptr)
    record(user, pc, reinterpret_cast<std::uint64_t>(from), bytes, Space::global, Op::async_read);
  record(user, pc, to, bytes, Space::shared, Op::async_write);
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult
on_matrix(void* user, std::uint64_t pc, std::uint32_t at, std::uint32_t bytes, std::uint32_t flags,
          std::uint32_t count, const void*) {
  // Eight lanes name the rows of each matrix; the others' addresses are not used.
  record(user, pc, at, bytes, Space::shared,
         op_of(flags) == Op::load ? Op::matrix_load : Op::matrix_store,
         count >= 4 ? ~0u : (1u << 8 * count) - 1);
  return SANITIZER_PATCH_SUCCESS;
}

}  // namespace fathom::explain
