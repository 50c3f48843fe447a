#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/device_facts.h"
#include "probes/topology/kernels.h"

// What the cases that launch clusters share.

namespace fathom::topology {

/// Clusters with room for so many blocks on each SM: 1 or more.
ClusterTask cluster_task(const DeviceFacts& device, int cluster_size, int blocks,
                         int blocks_per_sm);

/// Nothing if each block ran in its own cluster on one of `sms` SMs, else what is wrong.
std::optional<std::string> check_placements(const std::vector<Placement>& placements,
                                            int cluster_size, int sms);

}  // namespace fathom::topology
