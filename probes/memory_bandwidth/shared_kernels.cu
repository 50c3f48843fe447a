#include <cooperative_groups.h>

#include "probes/memory_bandwidth/stream.cuh"

// Shared and distributed shared memory: both kinds of kernel know theirs by 32-bit addresses, and
// only the instructions differ.

namespace fathom::memory_bandwidth {
namespace {

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
  constexpr std::uint32_t distance = operation == Operation::copy ? shared_bytes_used / 2 : 0;
  std::uint32_t sum =
      stream<operation, width, loads, Space>(p, end, step, span, run.walk.tiles, distance, value);
  if constexpr (operation != Operation::load) {
    Vector<width> last;
    Space::template load<width>(last.word, p + distance);
    sum = last.word[0];
  }
  stopwatch.stop(sum);
}

/// Writes out what the block's shared memory holds.
__device__ inline void save_shared(const std::uint32_t* words, std::uint32_t* after) {
  std::uint32_t* own = after + static_cast<std::size_t>(blockIdx.x) * (shared_bytes_used / 4);
  for (int i = threadIdx.x; i < shared_bytes_used / 4; i += blockDim.x) own[i] = words[i];
}

template <Operation operation, int width>
__global__ void __launch_bounds__(shared_threads) stream_shared(SharedRun run) {
  extern __shared__ uint4 memory[];  // aligned for 16-byte accesses
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  fill_shared<operation>(words);
  __syncthreads();
  shared_stream<operation, width, SharedMemory>(run, shared_address(words));
  __syncthreads();
  save_shared(words, run.after);
}

// From compute capability 9.0 on; elsewhere the kernel is empty and nothing launches it.
template <Operation operation, int width>
__global__ void __launch_bounds__(shared_threads) stream_cluster(SharedRun run) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ uint4 memory[];
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  std::uint32_t base;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(base)
               : "r"(shared_address(words)), "r"(next));
  fill_shared<operation>(words);
  cluster.sync();
  shared_stream<operation, width, ClusterMemory>(run, base);
  cluster.sync();  // the own memory is read or written by another block until here
  save_shared(words, run.after);
#endif
}

/// The kernel, which may have its shared memory and clusters of 16.
auto kernel_of(const SharedRun& run) {
  const bool cluster = run.cluster_size > 1;
  const auto kernel = with_constant<Operation::load, Operation::store, Operation::copy>(
      run.operation, [&](auto operation) {
        return with_constant<4, 8, 16>(run.width, [&](auto width) {
          return cluster ? stream_cluster<operation, width> : stream_shared<operation, width>;
        });
      });
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, run.shared_bytes));
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  if (cluster) allow_any_cluster(kernel);
  return kernel;
}

Blocks grid_of(const SharedRun& run) {
  return {run.blocks, shared_threads, run.shared_bytes, run.cluster_size};
}

}  // namespace

Walk shared_walk(Operation operation, int width, int passes) {
  Walk walk;
  walk.tile = walk.step = static_cast<std::uint64_t>(width) * warp_lanes *
                          static_cast<std::uint64_t>(shared_loads(operation));
  walk.span = shared_bytes_used;
  if (operation == Operation::load) {
    walk.warp_offset = walk.tile;
  } else {
    walk.span /= shared_warps * (operation == Operation::copy ? 2 : 1);
    walk.block_region = walk.span;
  }
  walk.tiles = passes * static_cast<int>(walk.span / walk.step);
  return walk;
}

void launch_shared(const SharedRun& run, cudaStream_t stream) {
  launch(kernel_of(run), grid_of(run), stream, run);
}

int cluster_blocks(int major, int cluster_size, int shared_bytes) {
  const SharedRun run{
      .blocks = cluster_size, .cluster_size = cluster_size, .shared_bytes = shared_bytes};
  return major < 9 ? 0 : cluster_size * most_active_clusters(kernel_of(run), grid_of(run));
}

}  // namespace fathom::memory_bandwidth
