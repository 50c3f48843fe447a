#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "harness/buffers.h"

namespace fathom {

/// Fills `bytes` (a multiple of 8) with random data of the kind `fill`, the same for the same seed.
void fill_random_data(std::byte* data, std::size_t bytes, Fill fill, std::uint64_t seed,
                      cudaStream_t stream);

}  // namespace fathom
