#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace fathom::test {

inline constexpr int planted_threads = 8192;

struct PlantedBuffers {
  static constexpr std::size_t bytes = 16u << 20;  ///< of `in` and of `out`
  float *in = nullptr, *out = nullptr;
  int* order = nullptr;  ///< a permutation of `planted_threads`

  /// Until the program's end; false where the GPU gives no memory.
  bool allocate() {
    if (cudaMalloc(&in, bytes) != cudaSuccess || cudaMalloc(&out, bytes) != cudaSuccess ||
        cudaMalloc(&order, planted_threads * sizeof(int)) != cudaSuccess)
      return false;
    std::vector<int> shuffled(planted_threads);
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
    cudaMemset(in, 0, bytes);
    return cudaMemcpy(order, shuffled.data(), planted_threads * sizeof(int),
                      cudaMemcpyHostToDevice) == cudaSuccess;
  }
};

/// A kernel with one planted fault, on the one line of explain_planted.cu that ends in
/// "// fault: RULE", or with none.
struct Planted {
  const char* name;  ///< the kernel's
  void (*launch)(const PlantedBuffers&, cudaStream_t);
};

std::span<const Planted> planted_kernels();

}  // namespace fathom::test
