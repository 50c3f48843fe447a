#pragma once

#include "gemm/rung.h"

// The rungs of fp16 and bf16 that are no lessons (gemm/ladder/half), one function per rung and
// file, in order; `of` is either class.

namespace fathom::gemm::half {

Rung split_depth(Class of);
Rung all_layouts(Class of);
Rung large_clusters(Class of);
Rung deferred_stores(Class of);

}  // namespace fathom::gemm::half
