#include "probes/copy_bandwidth/kernels.h"

#include <cub/device/device_transform.cuh>

#include "harness/cuda_check.h"

namespace fathom::copy_bandwidth {
namespace {

struct Identity {
  template <class T>
  __host__ __device__ T operator()(T value) const { return value; }
};

}  // namespace

template <class T>
void launch_transform(const std::byte* src, std::byte* dst, std::size_t bytes,
                      cudaStream_t stream) {
  FATHOM_CUDA(cub::DeviceTransform::Transform(reinterpret_cast<const T*>(src),
                                              reinterpret_cast<T*>(dst),
                                              static_cast<long long>(bytes / sizeof(T)), Identity{},
                                              stream));
}
template void launch_transform<float>(const std::byte*, std::byte*, std::size_t, cudaStream_t);
template void launch_transform<double>(const std::byte*, std::byte*, std::size_t, cudaStream_t);

void launch_memcpy(const std::byte* src, std::byte* dst, std::size_t bytes, cudaStream_t stream) {
  FATHOM_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace fathom::copy_bandwidth
