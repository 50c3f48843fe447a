#pragma once

#include <type_traits>

#include "probes/memory_bandwidth/stream.cuh"

// Global memory as a Space of stream.cuh, and the walk through it that kernels of all SMs and of
// chosen ones share.

namespace fathom::memory_bandwidth {

inline constexpr int max_threads = 1024;

/// Global memory by one load instruction; plain stores.
template <Path path>
using Global =
    std::conditional_t<path == Path::cached, GlobalMemory,
                       std::conditional_t<path == Path::l2_only, GlobalPastL1, GlobalUnallocated>>;

/// The walk of the calling block, which is number `block` of those that share out the work.
template <Operation operation, Path path, int width, int loads>
__device__ __forceinline__ void walk_global(const GlobalRun& run, std::uint32_t block) {
  using Space = Global<path>;
  const Walk& walk = run.walk;
  const std::uint64_t base =
      reinterpret_cast<std::uint64_t>(operation == Operation::store ? run.dst : run.src);
  const std::uint64_t end = base + block * walk.block_region + walk.span;
  const std::uint64_t p =
      base + walk.start(block, threadIdx.x / warp_lanes) + threadIdx.x % warp_lanes * width;
  const std::uint32_t thread = block * blockDim.x + threadIdx.x;
  const Vector<width> value = value_to_store<width>(thread);
  __syncthreads();
  Stopwatch stopwatch(run.reports + thread / warp_lanes);
  std::uint32_t sum = 0;
  if constexpr (operation == Operation::load) {
    sum = load_stream<width, loads, Space>(p, end, walk.step, walk.span, walk.tiles);
  } else if constexpr (operation == Operation::store) {
    store_stream<width, loads, Space>(p, end, walk.step, walk.span, walk.tiles, value);
  } else {
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(run.dst) - base;
    copy_stream<width, loads, Space>(p, end, distance, walk.step, walk.span, walk.tiles);
  }
  stopwatch.stop(sum);
}

}  // namespace fathom::memory_bandwidth
