#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "harness/cuda_check.h"
#include "results/error.h"

namespace fathom::gemm {

/// How a kernel is launched that needs more dynamic shared memory than the usual 48 KiB or, for
/// `cluster` > 1, clusters of so many neighbouring blocks.
struct ClusterLaunch {
  int blocks = 1, threads = 1, shared_bytes = 0, cluster = 1;
  cudaStream_t stream = nullptr;
  /// May start when all blocks of the kernel before it have executed launch_dependents.
  bool beside_previous = false;
};

/// Calls `use` with the launch as the runtime wants it.
template <class Kernel, class Use>
void with_launch_config(Kernel kernel, const ClusterLaunch& launch, Use&& use) {
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   launch.shared_bytes));
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = static_cast<unsigned>(launch.cluster);
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
  config.blockDim = dim3(static_cast<unsigned>(launch.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(launch.shared_bytes);
  config.stream = launch.stream;
  config.attrs = attributes;
  config.numAttrs = launch.beside_previous ? 2 : 1;
  use(config);
}

template <class Kernel, class... Parameters>
void launch_cluster(Kernel kernel, const ClusterLaunch& launch, const Parameters&... parameters) {
  with_launch_config(kernel, launch, [&](const cudaLaunchConfig_t& config) {
    FATHOM_CUDA(cudaLaunchKernelEx(&config, kernel, parameters...));
  });
}

/// Clusters that the GPU runs at once: fewer than its SMs make, where a cluster of more than two
/// does not divide the SMs that can form one.
template <class Kernel>
int resident_clusters(Kernel kernel, ClusterLaunch launch) {
  launch.blocks = launch.cluster;
  int clusters = 0;
  with_launch_config(kernel, launch, [&](const cudaLaunchConfig_t& config) {
    FATHOM_CUDA(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  });
  return clusters;
}

/// The same of a kernel that no other stands in for; throws Error where the GPU runs none.
template <class Kernel>
int needed_clusters(Kernel kernel, const ClusterLaunch& launch) {
  const int clusters = resident_clusters(kernel, launch);
  if (clusters > 0) return clusters;
  throw Error(ExitCode::partitioned_gpu,
              "This GPU runs no cluster of " + std::to_string(launch.cluster) + " blocks of " +
                  std::to_string(launch.threads) + " threads and " +
                  std::to_string(launch.shared_bytes) +
                  " bytes of shared memory: take a whole GPU, or a rung without clusters.");
}

/// Launches a kernel on a product whose maps are made: in a cluster a tile or, if persistent, in as
/// many as the GPU runs at once, each of which goes from tile to tile.
template <auto kernel, auto d, class P>
void launch_scheduled(P product, ClusterLaunch launch) {
  int clusters = product.end;
  if constexpr (d.persistent()) {
    static const int resident = needed_clusters(kernel, launch);
    clusters = std::min(clusters, resident);
  }
  product.step = clusters;
  launch.blocks = clusters * d.cluster();
  launch_cluster(kernel, launch, product);
}

/// The same on all SMs where clusters of more than two leave some: large clusters in one kernel,
/// and beside it on the SMs that they leave small ones, the tail kernel's, whose tiles together
/// make the large one's. Both walk the same entries in step, wave by wave.
template <auto kernel, auto d, auto tail_kernel, auto tail, class P>
void launch_with_tail_kernel(P product, ClusterLaunch launch, ClusterLaunch tail_launch) {
  static_assert(d.has_tail && d.persistent() && tail.persistent());
  static_assert(tail.parent_m * tail.cluster_m * tail.m() == d.cluster_m * d.m() &&
                tail.parent_n * tail.cluster_n * tail.n == d.cluster_n * d.n);
  static const int resident = resident_clusters(kernel, launch);
  /// Entries' worth of small clusters on the SMs that are left.
  static const int tail_entries =
      (resident_clusters(tail_kernel, tail_launch) * tail.cluster() - resident * d.cluster()) /
      (tail.cluster() * tail.parent());
  const int entries = product.tiles_m * product.tiles_n;
  const int clusters = std::min(entries, resident);
  const int tail_clusters = std::min(entries - clusters, tail_entries) * tail.parent();
  product.step = clusters + tail_clusters / tail.parent();
  if (clusters > 0) {
    product.first = 0;
    product.end = entries;
    launch.blocks = clusters * d.cluster();
    launch_cluster(kernel, launch, product);
  }
  if (tail_clusters > 0) {
    product.first = clusters * tail.parent();
    product.step *= tail.parent();
    product.end = entries * tail.parent();
    tail_launch.blocks = tail_clusters * tail.cluster();
    // It leaves the wait for the kernel before both to the large clusters.
    tail_launch.beside_previous = clusters > 0;
    launch_cluster(tail_kernel, tail_launch, product);
  }
}

}  // namespace fathom::gemm
