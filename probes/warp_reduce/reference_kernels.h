#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "probes/warp_reduce/sum_kernels.h"

namespace fathom::warp_reduce {

inline constexpr int reference_blocks = 1024;
inline constexpr int reference_threads = 256;

/// The sum that the others are held against, by another way than theirs: scalar loads, every thread
/// its own partial sum, no shuffle, no atomic addition. The caller adds up
/// reference_blocks x reference_threads partial sums: double for floating-point elements, and exact
/// 64-bit integers otherwise.
void launch_reference(Element element, const std::byte* source, std::size_t elements,
                      std::byte* partial_sums, cudaStream_t stream);

}  // namespace fathom::warp_reduce
