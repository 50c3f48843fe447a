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

}  // namespace

Kernel tile_kernel(const Access& access) {
  if (access.width != 16 || access.path != Path::l2_only)
    throw std::invalid_argument("single tiles move 16 bytes a lane, loads by ld.global.cg");
  // With eight the compiler waits for the first before it issues the last, to save registers.
  if (access.operation == Operation::load && access.loads == 4)
    return stream_tiles<Operation::load, Path::l2_only, 4>;
  return with_constant<Operation::load, Operation::store, Operation::copy>(
      access.operation, [&](auto operation) {
        return with_constant<1, 2>(access.loads, [&](auto loads) -> Kernel {
          return stream_tiles<operation, Path::l2_only, loads>;
        });
      });
}

}  // namespace fathom::memory_bandwidth
