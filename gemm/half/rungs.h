#pragma once

#include "gemm/rung.h"

// The contender of fp16 and bf16, which is no lesson (gemm/ladder/half); `of` is either class.

namespace fathom::gemm::half {

Rung deferred_stores(Class of);

}  // namespace fathom::gemm::half
