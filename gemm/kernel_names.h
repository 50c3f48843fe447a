#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>

namespace fathom::gemm {

/// The kernels that `launch` puts on the stream, in the order of launched_kernels
/// (gemm/launched_kernels.h): "ampere_sgemm_128x128_nn, splitKreduce_kernel". Says why
/// where the driver cannot tell (it names kernels since CUDA 12.3).
std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream);

/// A kernel's name for people: demangled, without return type and arguments, at most `limit`
/// characters.
std::string readable_kernel_name(const std::string& mangled, std::size_t limit = 160);
/// The same of a kernel of the ladder, without our own namespaces:
/// "fp32::warp_specialised_product<fp32::WarpSpecialisedTile<16, 8, ...".
std::string ladder_kernel_name(const std::string& mangled);
/// The same without what it is a template of: "fp32::warp_specialised_product".
std::string kernel_template(const std::string& mangled);

}  // namespace fathom::gemm
