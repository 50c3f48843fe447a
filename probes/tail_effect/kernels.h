#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fathom::tail_effect {

/// Long, so that the loop's own instructions take below 2 % of the time.
inline constexpr int steps_per_iteration = 256;

/// The chain's start value of a lane, and its step x -> fma(x, factor, addend).
inline constexpr float factor = 0.99993896484375f, addend = 0.000244140625f;
__host__ __device__ constexpr float start_value(int lane) { return static_cast<float>(lane) / 32; }

/// Every thread runs one chain of `iterations * steps_per_iteration` dependent FMAs and writes its
/// end value to out[thread of the grid]. At most 1024 threads a block, as below.
__global__ void fma_chain(float* out, int iterations);
/// Block b copies so many vectors from src + b * chunk_vectors to dst.
__global__ void chunk_copy(const uint4* src, uint4* dst, std::size_t chunk_vectors);

}  // namespace fathom::tail_effect
