#include "probes/topology/one_per_sm.cuh"

namespace fathom::topology {
namespace {

constexpr int threads = 32;

__global__ void record_placement(ClusterTask task) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x != 0) return;
  std::uint32_t cluster;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
  task.placements[blockIdx.x] = {sm_id(), cluster};
  const std::int64_t stay =
      task.shortest_clocks + memory_latency::mixed(blockIdx.x + task.seed) % task.spread_clocks;
  const std::int64_t start = clock64();
  while (clock64() - start < stay) {
  }
#endif
}

/// A launch of clusters; `attribute` must outlive it.
cudaLaunchConfig_t config_of(const ClusterTask& task, cudaStream_t stream,
                             cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(task.cluster_size);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(task.blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = static_cast<std::size_t>(task.shared_bytes);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

void allow(const ClusterTask& task) {
  FATHOM_CUDA(
      cudaFuncSetAttribute(record_placement, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  FATHOM_CUDA(cudaFuncSetAttribute(record_placement, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   task.shared_bytes));
}

}  // namespace

void launch_clusters(const ClusterTask& task, cudaStream_t stream) {
  allow(task);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = config_of(task, stream, attribute);
  FATHOM_CUDA(cudaLaunchKernelEx(&config, record_placement, task));
}

int most_active_clusters(int major, const ClusterTask& task) {
  if (major < 9) return 0;
  allow(task);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = config_of(task, nullptr, attribute);
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, record_placement, &config) != cudaSuccess) {
    cudaGetLastError();  // a size that this GPU does not have: clears it
    return 0;
  }
  return clusters;
}

}  // namespace fathom::topology
