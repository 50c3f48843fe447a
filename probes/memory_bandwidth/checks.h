#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/cases.h"
#include "probes/memory_bandwidth/kernels.h"

namespace fathom::memory_bandwidth {

// What launches through global memory read, and whether they moved it.

/// The largest that any case's source or destination may be.
std::uint64_t largest_region(const DeviceFacts& device);

/// `bytes` of random data: prefixes of one buffer up to a size and of another above it, so that a
/// curve of many sizes fills random data twice and not for each of them.
Buffer source(Context& context, std::uint64_t bytes);

/// Of all 32-bit words, modulo 2^32; synchronises.
std::uint32_t sum_of(Context& context, const Buffer& data);

/// Nothing, or that the words loaded sum to something else.
std::optional<std::string> check_sum(std::uint32_t sum, std::uint32_t expected);

/// Whether `dst` holds what interleaved warps store; synchronises. `word`: 8 bytes for its use.
std::optional<std::string> check_stored(const Buffer& dst, const Access& access, int blocks,
                                        int warps, const Buffer& word, cudaStream_t stream);

}  // namespace fathom::memory_bandwidth
