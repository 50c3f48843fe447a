#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fathom::energy {

/// Resident threads that do nothing but sleep: `turns` times about `sleep_ns`, which hardware may
/// halve or double. Each writes `turns` to its place in `out`.
inline constexpr int rest_threads = 128;
inline constexpr unsigned sleep_ns = 20'000;
__global__ void rest(int turns, std::uint32_t* out);

}  // namespace fathom::energy
