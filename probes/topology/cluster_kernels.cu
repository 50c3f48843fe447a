#include "harness/device_clocks.cuh"
#include "probes/device/launch.h"
#include "probes/topology/kernels.h"

namespace fathom::topology {
namespace {

constexpr int threads = 32;

__global__ void record_placement(ClusterTask task) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x != 0) return;
  std::uint32_t cluster;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
  task.placements[blockIdx.x] = {sm_id(), cluster};
  const std::int64_t stay = memory_latency::mixed(blockIdx.x + task.seed) % task.spread_clocks;
  const std::int64_t start = clock64();
  while (clock64() - start < stay) {
  }
#endif
}

Blocks grid_of(const ClusterTask& task) {
  allow_any_cluster(record_placement);
  FATHOM_CUDA(cudaFuncSetAttribute(record_placement, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   task.shared_bytes));
  return {task.blocks, threads, task.shared_bytes, task.cluster_size};
}

}  // namespace

void launch_clusters(const ClusterTask& task, cudaStream_t stream) {
  launch(record_placement, grid_of(task), stream, task);
}

int most_active_clusters(int major, const ClusterTask& task) {
  return major < 9 ? 0 : fathom::most_active_clusters(record_placement, grid_of(task));
}

}  // namespace fathom::topology
