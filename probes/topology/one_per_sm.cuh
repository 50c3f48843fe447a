#pragma once

#include <cstdint>

#include "harness/cuda_check.h"
#include "harness/device_clocks.cuh"
#include "probes/topology/kernels.h"

// What kernels with one block on each SM share.

namespace fathom::topology {

/// Between two looks of an idle SM, so that all of them together stay out of the way.
inline constexpr unsigned poll_ns = 200;

/// What another SM last put there. An atomic, so that it is no load by the counters.
__device__ inline std::uint32_t look_at(std::uint32_t* word) { return atomicOr(word, 0u); }

/// Waits until `reached(word)`, or gives up after patience_clocks: false then.
template <class Reached>
__device__ bool wait_for(std::uint32_t* word, unsigned nap_ns, const Reached& reached) {
  const std::int64_t start = clock64();
  while (!reached(look_at(word))) {
    if (clock64() - start > patience_clocks) return false;
    if (nap_ns > 0) __nanosleep(nap_ns);
  }
  return true;
}

/// Launches one block on each SM: the shared memory that it asks for leaves no room for a second.
template <class Task>
void launch_one_per_sm(void (*kernel)(Task, std::uint32_t), const Task& task, int blocks,
                       int threads, int shared_bytes, cudaStream_t stream) {
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads),
           static_cast<std::size_t>(shared_bytes), stream>>>(task, 0);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::topology
