#include <cub/device/device_reduce.cuh>

#include "harness/cuda_check.h"
#include "probes/device/launch.h"
#include "probes/warp_reduce/kernels.h"
#include "probes/warp_reduce/stages.cuh"

namespace fathom::warp_reduce {

void cub_sum(Element element, const std::byte* source, int elements, std::byte* result,
             std::byte* temporary, std::size_t& temporary_bytes, cudaStream_t stream) {
  with_type(element, [&](auto x) {
    using T = decltype(x);
    FATHOM_CUDA(cub::DeviceReduce::Sum(temporary, temporary_bytes,
                                       reinterpret_cast<const T*>(source),
                                       reinterpret_cast<T*>(result), elements, stream));
  });
}

}  // namespace fathom::warp_reduce
