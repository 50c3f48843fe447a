#pragma once

#include "gemm/rung.h"

// The ladder of fp16 and bf16, one function per rung and file, in order; `of` is either class. Up to 05
// for every chip that multiplies matrices of the type, from 06 on by Hopper's warpgroup products.

namespace fathom::gemm::half {

Rung simt(Class of);
Rung wmma_global(Class of);
Rung wmma(Class of);
Rung mma_sync(Class of);
Rung multistage(Class of);
Rung wgmma(Class of);
Rung warp_specialised(Class of);
Rung wide_tile(Class of);
Rung persistent(Class of);
Rung cluster_multicast(Class of);
Rung overlapped_epilogue(Class of);
Rung split_depth(Class of);
Rung all_layouts(Class of);
Rung large_clusters(Class of);
Rung deferred_stores(Class of);

}  // namespace fathom::gemm::half
