#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

namespace fathom::test {

struct PlantedBuffers {
  float *in, *out;
  const int* order;  ///< a permutation of `planted_threads`
};

inline constexpr int planted_threads = 8192;
inline constexpr std::size_t planted_bytes = 16u << 20;  ///< of `in` and of `out`

/// A kernel with one planted fault, on the one line of explain_planted.cu that ends in
/// "// fault: RULE", or with none.
struct Planted {
  const char* name;  ///< the kernel's
  void (*launch)(const PlantedBuffers&, cudaStream_t);
};

std::span<const Planted> planted_kernels();

}  // namespace fathom::test
