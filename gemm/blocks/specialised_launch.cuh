#pragma once

#include <algorithm>

#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/specialised_product.cuh"

// Launches of the warp-specialised products. Host code.

namespace fathom::gemm {

template <KernelConfig d>
ClusterLaunch specialised_launch(cudaStream_t stream) {
  return {1, d.threads(), specialised_shared_bytes<d>(), d.cluster(), stream, d.early};
}

/// Launches a kernel on a product whose maps are made: in a cluster a tile or, if persistent, in as
/// many as the GPU runs at once, each of which goes from tile to tile.
template <auto kernel, KernelConfig d, class P>
void launch_scheduled(P product, ClusterLaunch launch) {
  int clusters = product.end;
  if constexpr (d.persistent) {
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
template <auto kernel, KernelConfig d, auto tail_kernel, KernelConfig tail, class P>
void launch_with_tail_kernel(P product, ClusterLaunch launch, ClusterLaunch tail_launch) {
  static_assert(d.has_tail && d.persistent && tail.persistent);
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

template <class Kernel>
void launch_specialised(const TiledProduct<typename Kernel::Out, typename Kernel::Scalar>& product,
                        cudaStream_t stream) {
  constexpr KernelConfig d = Kernel::config;
  launch_scheduled<&specialised_product<Kernel>, d>(product, specialised_launch<d>(stream));
}

template <class Kernel, class Tail>
void launch_specialised_with_tail(
    const TiledProduct<typename Kernel::Out, typename Kernel::Scalar>& product,
    cudaStream_t stream) {
  constexpr KernelConfig d = Kernel::config, tail = Tail::config;
  launch_with_tail_kernel<&specialised_product<Kernel>, d, &specialised_product<Tail>, tail>(
      product, specialised_launch<d>(stream), specialised_launch<tail>(stream));
}

}  // namespace fathom::gemm
