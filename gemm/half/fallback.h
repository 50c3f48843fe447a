#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::half {

/// Any product of fp16 or bf16, whatever its sizes and leading dimensions: what a rung falls back
/// to whose own kernel wants whole tiles. It is the kernel of rung 01.
void launch_fallback(const Arguments& arguments, cudaStream_t stream);

}  // namespace fathom::gemm::half
