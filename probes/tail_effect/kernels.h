#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fathom::tail_effect {

/// Long, so that the loop's own instructions take below 2 % of the time.
inline constexpr int steps_per_iteration = 256;

/// The chain's start value of a lane, and its step x -> fma(x, factor, addend).
inline constexpr float factor = 0.99993896484375f, addend = 0.000244140625f;
__host__ __device__ constexpr float start_value(int lane) { return static_cast<float>(lane) / 32; }

/// `dynamic_shared` bytes are asked for only to set how many blocks are resident.
struct Blocks {
  int blocks, threads, dynamic_shared;
};

/// Every thread runs one chain of `iterations * steps_per_iteration` dependent FMAs and writes its
/// end value to out[thread of the grid].
void launch_chain(float* out, int iterations, const Blocks& grid, cudaStream_t stream);
/// Block b copies `chunk_bytes` (a multiple of 16) from src + b * chunk_bytes to dst.
void launch_copy(const std::byte* src, std::byte* dst, std::size_t chunk_bytes, const Blocks& grid,
                 cudaStream_t stream);

/// Resident blocks per SM by the driver's answer; sets the kernel's shared-memory limit.
int resident_chains(int threads, int dynamic_shared);
int resident_copies(int threads, int dynamic_shared);

}  // namespace fathom::tail_effect
