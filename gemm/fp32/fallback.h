#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::fp32 {

/// Any product, whatever its sizes and leading dimensions: what rungs whose own kernel wants whole
/// tiles or aligned columns fall back to. It is the kernel of rung 09.
void launch_fallback(const Arguments& arguments, cudaStream_t stream);

}  // namespace fathom::gemm::fp32
