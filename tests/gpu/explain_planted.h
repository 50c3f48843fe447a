#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace fathom::test {

struct PlantedBuffers {
  float *in, *out;
  const int* order;  ///< planted_order()
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

/// A permutation of `planted_threads`.
inline std::vector<int> planted_order() {
  std::vector<int> order(planted_threads);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  return order;
}

}  // namespace fathom::test
