// What the lessons of types that only tensor cores multiply leave out.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "gemm/ladder/fallback.cuh"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm {
namespace {

template <class In, class Out, class Scalar>
void launch(const Arguments& arguments, cudaStream_t stream) {
  const auto p = row_major<In, Out, Scalar>(arguments);
  launch_blocks(&any_product<In, Out, Scalar>, dim3(any_product_blocks(p)), 256, p, stream);
}

}  // namespace

void launch_tensor_fallback(const Arguments& arguments, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  switch (arguments.problem.of) {
    case Class::fp16:
      return launch<__half, __half, float>(arguments, stream);
    case Class::bf16:
      return launch<__nv_bfloat16, __nv_bfloat16, float>(arguments, stream);
    case Class::fp8:
      return launch<__nv_fp8_e4m3, __nv_bfloat16, float>(arguments, stream);
    case Class::int8:
      return launch<std::int8_t, int, int>(arguments, stream);
    default:
      return launch_fallback(arguments, stream);
  }
}

}  // namespace fathom::gemm
