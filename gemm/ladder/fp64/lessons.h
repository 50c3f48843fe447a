#pragma once

#include "gemm/ladder/lesson.h"

// The fp64 lessons, one file each.

namespace fathom::gemm {

/// Computes any product of doubles, with every index checked.
void launch_fp64_fallback(const Arguments& arguments, cudaStream_t stream);

namespace fp64 {
Lesson shared_memory();
Lesson register_tile();
Lesson tensor_cores();
Lesson wide_products();
Lesson tma();
Lesson cluster_multicast();
}  // namespace fp64

}  // namespace fathom::gemm
