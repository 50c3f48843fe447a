#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fathom::copy_bandwidth {

/// The libraries' copies, device to device.
void launch_memcpy(const std::byte* src, std::byte* dst, std::size_t bytes, cudaStream_t stream);
/// cub::DeviceTransform with the identity over elements of this type; `bytes` whole elements.
void launch_transform_float(const std::byte* src, std::byte* dst, std::size_t bytes,
                            cudaStream_t stream);
void launch_transform_double(const std::byte* src, std::byte* dst, std::size_t bytes,
                             cudaStream_t stream);

}  // namespace fathom::copy_bandwidth
