#include "probes/warp_reduce/sum_kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "harness/cuda_check.h"

namespace fathom::warp_reduce {
namespace {

template <class T, class Wide>
__global__ void partial_sums_of(const T* source, std::size_t elements, Wide* partial_sums) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  Wide sum = 0;
  for (std::size_t i = first; i < elements; i += step) {
    if constexpr (std::is_same_v<Wide, double> && !std::is_same_v<T, double>) {
      sum += static_cast<double>(static_cast<float>(source[i]));
    } else {
      sum += source[i];
    }
  }
  partial_sums[first] = sum;
}

template <class T, class Wide>
void launch(const std::byte* source, std::size_t elements, std::byte* sums, cudaStream_t stream) {
  partial_sums_of<<<reference_blocks, reference_threads, 0, stream>>>(
      reinterpret_cast<const T*>(source), elements, reinterpret_cast<Wide*>(sums));
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

void launch_reference(Element element, const std::byte* source, std::size_t elements,
                      std::byte* sums, cudaStream_t stream) {
  switch (element) {
    case Element::f32: return launch<float, double>(source, elements, sums, stream);
    case Element::f64: return launch<double, double>(source, elements, sums, stream);
    case Element::i32: return launch<unsigned, unsigned long long>(source, elements, sums, stream);
    case Element::f16: return launch<__half, double>(source, elements, sums, stream);
    case Element::bf16: return launch<__nv_bfloat16, double>(source, elements, sums, stream);
  }
}

}  // namespace fathom::warp_reduce
