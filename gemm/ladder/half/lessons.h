#pragma once

#include "gemm/ladder/lesson.h"

// The lessons of fp16 and bf16, one file each: every lesson multiplies either type.

namespace fathom::gemm::half {

Lesson wmma_global(Class of);
Lesson wmma_shared(Class of);
Lesson mma_sync(Class of);
Lesson multistage(Class of);
Lesson wgmma(Class of);
Lesson warp_specialised(Class of);
Lesson wide_tile(Class of);
Lesson persistent(Class of);
Lesson cluster_multicast(Class of);
Lesson overlapped_epilogue(Class of);

}  // namespace fathom::gemm::half
