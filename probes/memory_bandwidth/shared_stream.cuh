#pragma once

#include "probes/device/threads.cuh"
#include "probes/memory_bandwidth/stream.cuh"

// What the kernels of shared and of distributed shared memory have in common. Both know their
// memory by 32-bit addresses; only the instructions differ.

namespace fathom::memory_bandwidth {

/// Fills what loads read; what is to be written holds anything but what will be written.
template <Operation operation>
__device__ void fill_shared(std::uint32_t* words) {
  constexpr int all = shared_bytes_used / 4;
  constexpr int readable = operation == Operation::copy ? all / 2 : all;
  for (int i = threadIdx.x; i < all; i += blockDim.x) {
    const std::uint32_t word = shared_word(static_cast<std::uint32_t>(i));
    words[i] = operation == Operation::store || i >= readable ? ~word : word;
  }
}

/// The timed part, on the memory that begins at `base`. The last word stored is loaded back, so
/// that no store is still under way when the clock is read.
template <Operation operation, int width, class Space>
__device__ void shared_stream(const SharedRun& run, std::uint32_t base) {
  constexpr int loads = shared_loads(operation);
  const auto step = static_cast<std::uint32_t>(run.walk.step);
  const auto span = static_cast<std::uint32_t>(run.walk.span);
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  // A warp has a region of its own where it stores, else all of them share one: `block_region` is
  // the distance between such regions.
  const auto own = static_cast<std::uint32_t>(warp * run.walk.block_region);
  const std::uint32_t end = base + own + span;
  const std::uint32_t first =
      base + own + static_cast<std::uint32_t>(warp * run.walk.warp_offset % run.walk.span);
  const std::uint32_t p = first + lane * width;
  const Vector<width> value = value_to_store<width>(threadIdx.x);
  Stopwatch stopwatch(run.reports + grid_warp());
  std::uint32_t sum = 0;
  if constexpr (operation == Operation::load) {
    sum = load_stream<width, loads, Space>(p, end, step, span, run.walk.tiles);
  } else {
    constexpr std::uint32_t half = shared_bytes_used / 2;
    std::uint32_t written = p;
    if constexpr (operation == Operation::store) {
      store_stream<width, loads, Space>(p, end, step, span, run.walk.tiles, value);
    } else {
      copy_stream<width, loads, Space>(p, end, half, step, span, run.walk.tiles);
      written = p + half;
    }
    Vector<width> last;
    Space::template load<width>(last.word, written);
    sum = last.word[0];
  }
  stopwatch.stop(sum);
}

/// Writes out what the block's shared memory holds.
__device__ inline void save_shared(const std::uint32_t* words, std::uint32_t* after) {
  std::uint32_t* own = after + static_cast<std::size_t>(blockIdx.x) * (shared_bytes_used / 4);
  for (int i = threadIdx.x; i < shared_bytes_used / 4; i += blockDim.x) own[i] = words[i];
}

}  // namespace fathom::memory_bandwidth
