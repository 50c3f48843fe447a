#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases.h"
#include "harness/device_facts.h"
#include "probes/topology/kernels.h"

// The cases of the sweep. Each gives an entry with a profile: one figure for each L2 line or SM,
// of one SM, or of all SMs one after the other.

namespace fathom::topology {

std::vector<Case> latency_cases(const DeviceFacts& device);     ///< an SM's latency to each line
std::vector<Case> contention_cases(const DeviceFacts& device);  ///< an SM beside each other SM
std::vector<Case> cluster_cases(const DeviceFacts& device);     ///< which SMs clusters join
std::vector<Case> pair_cases(const DeviceFacts& device);        ///< how often clusters of two do

/// One region for all of them, in device memory. Larger than what the pool moves from round to
/// round, so that line i is the same memory in all cases.
inline constexpr std::size_t region_bytes = BufferPool::small_bytes + (std::size_t{8} << 20);

std::vector<int> numbers_of_sms(const DeviceFacts& device);  ///< as %smid has them

/// Rounded so that a profile of hundreds of values stays short: two decimals.
double rounded(double value);

// What the cases that launch clusters share.

/// Clusters with room for so many blocks on each SM: 1 or more.
ClusterTask cluster_task(const DeviceFacts& device, int cluster_size, int blocks,
                         int blocks_per_sm);

/// Nothing if each block ran in its own cluster on one of `sms` SMs, else what is wrong.
std::optional<std::string> check_placements(const std::vector<Placement>& placements,
                                            int cluster_size, int sms);

}  // namespace fathom::topology
