// What the fp64 lessons' kernels leave out.

#include "gemm/ladder/fallback.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm {

void launch_fp64_fallback(const Arguments& arguments, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  const auto p = row_major<double>(arguments);
  launch_blocks(&any_product<double, double, double>, dim3(any_product_blocks(p)), 256, p, stream);
}

}  // namespace fathom::gemm
