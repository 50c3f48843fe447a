#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "probes/warp_reduce/sum_kernels.h"

namespace fathom::warp_reduce {

/// Width of the element count's type, which chooses between two compiled kernels of CUB's.
enum class OffsetType { int32, int64 };

/// Whether `cub_sum` can: float, double and 32-bit integers, and a count that fits the offset type.
bool cub_can_sum(Element element, std::size_t elements, OffsetType offset);

/// Bytes of temporary memory that cub::DeviceReduce::Sum asks for.
std::size_t cub_temporary_bytes(Element element, std::size_t elements, OffsetType offset);

/// cub::DeviceReduce::Sum of `elements` elements into one element at `result`. Throws
/// std::invalid_argument where `cub_can_sum` is false.
void cub_sum(Element element, const std::byte* source, std::size_t elements, OffsetType offset,
             std::byte* result, std::byte* temporary, std::size_t temporary_bytes,
             cudaStream_t stream);

}  // namespace fathom::warp_reduce
