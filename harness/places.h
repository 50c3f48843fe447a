#pragma once

#include <cstddef>
#include <vector>

#include "harness/probe.h"

// Small work in many places. Where the caches hold everything, a time follows from where the driver
// put the buffers: on an H200 by up to 12 % for 1 KiB, so that three places left a median that
// differed by 2 % (standard deviation) from process to process.

namespace fathom {

/// How many places a round has whose buffers that move take so many bytes, on a GPU with such an
/// L2: as many as a quarter of it holds together, 32 at most. 1 where `bytes` or the L2 is not
/// known. A sample of fewer launches goes through as many of them as it has.
int places_in_a_round(std::size_t bytes, std::size_t l2_bytes);

/// The last of these workloads, which are one in several places, but each launch is of another of
/// them, in turn.
Workload taking_turns(std::vector<Workload> places);

}  // namespace fathom
