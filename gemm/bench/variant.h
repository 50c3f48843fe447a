#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <vector>

#include "gemm/bench/rung.h"

namespace fathom::gemm {

/// One of several ways in which a rung can do a product: what autotuning chooses among.
struct Variant {
  std::string name;  ///< "128x256x16 in 4 parts"; unique among a product's variants
  RungKernel kernel;
  std::size_t workspace_bytes = 0;
  std::function<void(const Arguments&, const Workspace&, cudaStream_t)> launch;
};

/// None where the rung has nothing to tune.
inline std::vector<Variant> variants_of(const Rung& rung, const Problem& problem, int sms) {
  std::vector<Variant> found;
  if (rung.variants != nullptr) rung.variants(problem, sms, found);
  return found;
}

}  // namespace fathom::gemm
