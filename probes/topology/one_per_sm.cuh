#pragma once

#include <cstdint>

#include "harness/device_clocks.cuh"
#include "probes/topology/kernels.h"

// What kernels with one block on each SM share.

namespace fathom::topology {

/// Between two looks of an idle SM, so that all of them together stay out of the way.
inline constexpr unsigned poll_ns = 200;

/// What another SM last put there. An atomic, so that it is no load by the counters.
__device__ inline std::uint32_t look_at(std::uint32_t* word) { return atomicOr(word, 0u); }

/// Waits until `reached(word)`, or gives up after patience_clocks: false then.
template <class Reached>
__device__ bool wait_for(std::uint32_t* word, unsigned nap_ns, const Reached& reached) {
  const std::int64_t start = clock64();
  while (!reached(look_at(word))) {
    if (clock64() - start > patience_clocks) return false;
    if (nap_ns > 0) __nanosleep(nap_ns);
  }
  return true;
}

}  // namespace fathom::topology
