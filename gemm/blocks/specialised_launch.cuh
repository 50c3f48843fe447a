#pragma once

#include <algorithm>

#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/specialised_product.cuh"

// Launches of the warp-specialised products. Host code.

namespace fathom::gemm {

template <Design d>
ClusterLaunch specialised_launch(cudaStream_t stream) {
  return {1, d.threads(), specialised_shared_bytes<d>(), d.cluster(), stream, d.early};
}

/// Launches a kernel on a product whose maps are made: in a cluster a tile or, if persistent, in as
/// many as the GPU runs at once, each of which goes from tile to tile.
template <auto kernel, Design d, class P>
void launch_walk(P product, ClusterLaunch launch) {
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
/// and beside it on the SMs that they leave small ones, `rest`, whose tiles together make the large
/// one's. Both walk the same entries in step, wave by wave.
template <auto kernel, Design d, auto rest_kernel, Design rest, class P>
void launch_walk_with_rest(P product, ClusterLaunch launch, ClusterLaunch rest_launch) {
  static_assert(d.leaves_rest && d.persistent == rest.persistent);
  static_assert(rest.parent_m * rest.cluster_m * rest.m() == d.cluster_m * d.m() &&
                rest.parent_n * rest.cluster_n * rest.n == d.cluster_n * d.n);
  static const int resident = resident_clusters(kernel, launch);
  /// Entries' worth of small clusters on the SMs that are left.
  static const int rest_entries =
      (resident_clusters(rest_kernel, rest_launch) * rest.cluster() - resident * d.cluster()) /
      (rest.cluster() * rest.parent());
  const int entries = product.tiles_m * product.tiles_n;
  // Blocks that do not stay are worth it for a single wave.
  const bool one_kernel = !d.persistent && entries > resident + rest_entries;
  const int clusters = one_kernel ? entries : std::min(entries, resident);
  const int rest_clusters = std::min(entries - clusters, rest_entries) * rest.parent();
  product.step = clusters + rest_clusters / rest.parent();
  if (clusters > 0) {
    product.first = 0;
    product.end = entries;
    launch.blocks = clusters * d.cluster();
    launch_cluster(kernel, launch, product);
  }
  if (rest_clusters > 0) {
    product.first = clusters * rest.parent();
    product.step *= rest.parent();
    product.end = entries * rest.parent();
    rest_launch.blocks = rest_clusters * rest.cluster();
    // It leaves the wait for the kernel before both to the large clusters.
    rest_launch.beside_previous = clusters > 0;
    launch_cluster(rest_kernel, rest_launch, product);
  }
}

template <class Config>
void launch_specialised(const TiledProduct<typename Config::Out, typename Config::Scalar>& product,
                        cudaStream_t stream) {
  constexpr Design d = Config::design;
  launch_walk<&specialised_product<Config>, d>(product, specialised_launch<d>(stream));
}

template <class Config, class Rest>
void launch_with_rest(const TiledProduct<typename Config::Out, typename Config::Scalar>& product,
                      cudaStream_t stream) {
  constexpr Design d = Config::design, rest = Rest::design;
  launch_walk_with_rest<&specialised_product<Config>, d, &specialised_product<Rest>, rest>(
      product, specialised_launch<d>(stream), specialised_launch<rest>(stream));
}

}  // namespace fathom::gemm
