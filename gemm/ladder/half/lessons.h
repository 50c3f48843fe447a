#pragma once

#include <vector>

#include "gemm/ladder/lesson.h"

// The lessons of fp16 and bf16, one file each: every lesson multiplies either type.

namespace fathom::gemm {

/// All of one type, parents before children.
std::vector<Lesson> half_lessons(Class of);

/// Computes any product of 16-bit elements, with every index checked.
void launch_half_fallback(const Arguments& arguments, cudaStream_t stream);

namespace half {
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
}  // namespace half

}  // namespace fathom::gemm
