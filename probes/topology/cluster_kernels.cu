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

ClusterLaunch launch_of(const ClusterTask& task, cudaStream_t stream = nullptr) {
  FATHOM_CUDA(
      cudaFuncSetAttribute(record_placement, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  FATHOM_CUDA(cudaFuncSetAttribute(record_placement, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   task.shared_bytes));
  return ClusterLaunch(task.cluster_size, task.blocks, threads, task.shared_bytes, stream);
}

}  // namespace

void launch_clusters(const ClusterTask& task, cudaStream_t stream) {
  launch_of(task, stream)(record_placement, task);
}

int most_active_clusters(int major, const ClusterTask& task) {
  return major < 9 ? 0 : launch_of(task).most_active(record_placement);
}

}  // namespace fathom::topology
