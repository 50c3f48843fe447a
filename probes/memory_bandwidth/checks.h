#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/cases.h"
#include "probes/memory_bandwidth/kernels.h"

namespace fathom::memory_bandwidth {

// What launches through global memory read, and whether they moved it.

/// The largest that any case's source or destination may be.
std::uint64_t largest_region(const DeviceFacts& device);

/// Where an access goes: what it loads is random data, what it stores a buffer of its own.
struct Ends {
  Buffer src, dst;  ///< of loads and copies, of stores and copies; else without data
};
Ends ends_of(Context& context, Operation operation, std::uint64_t bytes);

/// A workload's `verify`. Of loads: the sum of all words, which `loaded` reads, is `passes` times
/// the source's; of stores: the destination holds what `blocks` x `warps` interleaved warps store;
/// of copies: it holds the source.
std::function<std::optional<std::string>()> check_of(Context& context, const Access& access,
                                                     const Ends& ends, int blocks, int warps,
                                                     std::uint64_t passes,
                                                     std::function<std::uint32_t()> loaded);

}  // namespace fathom::memory_bandwidth
