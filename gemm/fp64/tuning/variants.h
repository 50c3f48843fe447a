#pragma once

#include <string>
#include <vector>

#include "gemm/rung.h"

// Shapes of the fp64 kernels that could take the place of the chosen ones: for gemm_fp64_variants.

namespace fathom::gemm::fp64 {

struct Variant {
  std::string name;
  std::int64_t most_rows = 0;  ///< made for products of at most so many rows; 0: for large ones
  std::size_t (*workspace_bytes)(const Problem&, int sms) = nullptr;
  void (*launch)(const Arguments&, const Workspace&, cudaStream_t) = nullptr;
};

std::vector<Variant> variants();

}  // namespace fathom::gemm::fp64
