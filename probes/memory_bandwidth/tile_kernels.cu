#include <array>

#include "probes/memory_bandwidth/stream.cuh"

// Grids of many more blocks than run at once, each over after one tile for each of its warps: where
// an SM is done sooner, it gets the next block.

namespace fathom::memory_bandwidth {
namespace {

constexpr int max_tile_threads = 512;

template <Operation operation, Path path, int loads>
__global__ void __launch_bounds__(max_tile_threads) stream_tiles(TileRun run) {
  using Space = Global<path>;
  constexpr int width = 16;
  const std::uint32_t part = blockIdx.x % run.parts;
  const std::uint32_t thread = part * blockDim.x + threadIdx.x;
  const std::uint64_t offset = std::uint64_t{thread / warp_lanes} * (width * warp_lanes * loads) +
                               thread % warp_lanes * width;
  if constexpr (operation == Operation::store) {
    Vector<width> values[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) values[i] = value_to_store<width>(thread);
    store_tile<width, loads, Space>(reinterpret_cast<std::uint64_t>(run.dst) + offset, values);
  } else {
    Vector<width> values[loads];
    load_tile<width, loads, Space>(values, reinterpret_cast<std::uint64_t>(run.src) + offset);
    if constexpr (operation == Operation::copy) {
      store_tile<width, loads, Space>(reinterpret_cast<std::uint64_t>(run.dst) + offset, values);
    } else {
      // One addition to memory for each block: a warp's own would be traffic that counts.
      __shared__ std::uint32_t block_sum;
      if (threadIdx.x == 0) block_sum = 0;
      __syncthreads();
      std::uint32_t sum = 0;
#pragma unroll
      for (int i = 0; i < loads; ++i) add_words(sum, values[i]);
      sum = warp_sum(sum);
      if (threadIdx.x % warp_lanes == 0) atomicAdd(&block_sum, sum);
      __syncthreads();
      if (threadIdx.x == 0) atomicAdd(run.sums + blockIdx.x % tile_sums, block_sum);
    }
  }
}

using Kernel = void (*)(TileRun);

/// Those that have a kernel. With eight loads the compiler waits for the first before it issues the
/// last, to save registers.
constexpr auto accesses = [] {
  using enum Operation;
  constexpr Path path = Path::l2_only;
  return std::to_array<Access>({{load, path, 16, 1},
                                {load, path, 16, 2},
                                {load, path, 16, 4},
                                {store, path, 16, 1},
                                {store, path, 16, 2},
                                {copy, path, 16, 1},
                                {copy, path, 16, 2}});
}();

}  // namespace

Kernel tile_kernel(const Access& access) {
  return with_place<accesses>(
      access, [](auto place) -> Kernel {
        constexpr Access a = accesses[place];
        return stream_tiles<a.operation, a.path, a.loads>;
      });
}

}  // namespace fathom::memory_bandwidth
