// What the lessons of fp16 and bf16 leave out.

#include "gemm/ladder/fallback.cuh"
#include "gemm/ladder/half/half_lesson.cuh"

namespace fathom::gemm {
namespace {

template <class Element>
void launch(const Arguments& arguments, cudaStream_t stream) {
  const auto p = row_major<Element, Element, float>(arguments);
  launch_blocks(&any_product<Element, Element, float>, dim3(any_product_blocks(p)), 256, p, stream);
}

}  // namespace

void launch_half_fallback(const Arguments& arguments, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  if (arguments.problem.of == Class::fp16) return launch<__half>(arguments, stream);
  launch<__nv_bfloat16>(arguments, stream);
}

}  // namespace fathom::gemm
