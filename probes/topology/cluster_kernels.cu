#include "harness/device_clocks.cuh"
#include "probes/topology/kernels.h"

namespace fathom::topology {

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

}  // namespace fathom::topology
