#include <cooperative_groups.h>

#include "probes/device/launch.h"
#include "probes/memory_bandwidth/shared_stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

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

auto kernel_of(Operation operation, int width, bool cluster) {
  return with_constant<Operation::load, Operation::store, Operation::copy>(
      operation,
      [&](auto operation_of) {
        return with_constant<4, 8, 16>(
            width,
            [&](auto width_of) {
              return cluster ? stream_cluster<operation_of, width_of>
                             : stream_shared<operation_of, width_of>;
            });
      });
}

}  // namespace

Walk shared_walk(Operation operation, int width, int tiles) {
  constexpr std::uint64_t warps = shared_threads / warp_lanes;
  Walk walk;
  walk.tile = static_cast<std::uint64_t>(width) * warp_lanes *
              static_cast<std::uint64_t>(shared_loads(operation));
  walk.step = walk.tile;
  walk.tiles = tiles;
  switch (operation) {
    case Operation::load:
      walk.warp_offset = walk.tile;
      walk.span = shared_bytes_used;
      break;
    case Operation::store:
      walk.block_region = walk.span = shared_bytes_used / warps;
      break;
    case Operation::copy:
      walk.block_region = walk.span = shared_bytes_used / 2 / warps;
      break;
  }
  return walk;
}

void prepare_shared(Operation operation, int width, bool cluster, int shared_bytes) {
  const auto kernel = kernel_of(operation, width, cluster);
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  if (cluster)
    FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

void launch_shared(const SharedRun& run, cudaStream_t stream) {
  const ClusterLaunch launch(run.cluster_size, run.blocks, shared_threads, run.shared_bytes,
                             stream);
  launch(kernel_of(run.operation, run.width, run.cluster_size > 1), run);
}

int cluster_blocks(int major, int cluster_size, int shared_bytes) {
  if (major < 9) return 0;
  prepare_shared(Operation::load, 16, true, shared_bytes);
  const ClusterLaunch launch(cluster_size, cluster_size, shared_threads, shared_bytes);
  return launch.most_active(kernel_of(Operation::load, 16, true)) * cluster_size;
}

}  // namespace fathom::memory_bandwidth
