#pragma once

#include <string>
#include <vector>

#include "gemm/rung.h"

// Shapes of the kernels that could take the place of the chosen ones: for gemm_tf32_variants.

namespace fathom::gemm::tf32 {

struct Variant {
  std::string name;
  Class of = Class::tf32;
  bool skinny = false;  ///< made for products of at most 128 columns
  void (*launch)(const Arguments&, const Workspace&, cudaStream_t) = nullptr;
};

std::vector<Variant> variants();

}  // namespace fathom::gemm::tf32
