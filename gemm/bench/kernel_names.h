#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>

namespace fathom::gemm {

/// A kernel's name for people: demangled, without return type, arguments and our own namespaces:
/// "fp32::warp_specialised_product<fp32::Tile<false, false, ...".
std::string readable_name(const std::string& mangled);
/// The same of a kernel of this program.
std::string kernel_name(const void* function);

/// The kernels that `launch` puts on the stream, in the order of the driver's nodes of its capture:
/// "ampere_sgemm_128x128_nn, splitKreduce_kernel". Nothing of it runs; its kernels have run before,
/// since loading a module is forbidden in a capture. Says why where a launch cannot be captured,
/// and where the driver cannot tell (it names kernels since CUDA 12.3).
std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream);

}  // namespace fathom::gemm
