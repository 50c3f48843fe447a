#pragma once

#include <vector>

#include "probes/topology/groups.h"

namespace fathom::topology {

/// All that the facts and the views are drawn from.
struct Topology {
  ClusterGroups clusters;    ///< GPCs, but for SMs that clusters leave out
  LatencyGpcs latency_gpcs;  ///< as many as clusters show
  Gpcs joined;               ///< by both
  LatencyGroups latency;     ///< by loads
  Matrix loads;              ///< both sets of lines
  Partitions partitions;
  ContentionPairs contention;  ///< TPCs
  ClusterPairs cluster_pairs;
  LatencyPairs latency_pairs;
  LineGroups lines;
  double published_gpcs = 0, published_tpcs = 0;  ///< 0: none known for this GPU

  /// SMs by GPC, by clusters where there are any, else by latency, unless that shows no more than
  /// the sides of the L2; empty if neither tells.
  const Labels& gpcs() const;
  /// SMs by TPC, by contention, else by clusters of two; empty if neither tells.
  const Labels& tpcs() const;

  bool latency_shows_sides_only() const;
};

Topology topology_of(std::span<const Entry> entries);

std::vector<Fact> facts_of(const Topology& topology);

/// "0-3, 8, 10-11".
std::string ranges(const std::vector<std::size_t>& numbers);

}  // namespace fathom::topology
