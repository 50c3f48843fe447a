#pragma once

#include <string>
#include <vector>

#include "gemm/rung.h"

// Shapes of the Hopper kernels that could take the place of the chosen ones: for
// gemm_half_variants.

namespace fathom::gemm::half {

struct Variant {
  Class of = Class::bf16;
  std::string name;
  bool promoted = false;
  bool skinny = false;  ///< made for products of at most 128 columns
  void (*launch)(const Arguments&, const Workspace&, cudaStream_t) = nullptr;
};

std::vector<Variant> variants();

}  // namespace fathom::gemm::half
